/** Configuration: every value, every problem at once, and documents that tell the truth. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { EXAMPLE_SECRET } from "../../../lib/config/example-secrets.ts";
import { loadConfig } from "../../../lib/config/load.ts";
import { requireMeta, SETTING_NAMES } from "../../../lib/config/schema.ts";
import type { Config } from "../../../lib/config/types.ts";
import { parseDuration } from "../../../lib/config/values.ts";
import { renderConfigPage, renderEnvExample } from "../../../scripts/config-documents.ts";

const dir = mkdtempSync(join(tmpdir(), "casthouse-config-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SERVERS = { DATABASE_URL: "postgresql://u:p@db/x", REDIS_URL: "redis://r:6379" };
const load = (variables: Record<string, string>) => loadConfig({ variables, workingFolder: dir, cores: 4 });

function config(variables: Record<string, string> = {}): Config {
  const result = load({ ...SERVERS, ...variables });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.config;
}

function problems(variables: Record<string, string>): string[] {
  const result = load({ ...SERVERS, ...variables });
  return result.ok ? [] : result.problems.map(({ name, message }) => `${name} ${message}`);
}

describe("loadConfig", () => {
  it("has a default for everything but the two servers", () => {
    expect(config()).toEqual({
      development: false,
      appDir: dir,
      http: {
        host: "0.0.0.0",
        port: 3000,
        externalUrl: "http://localhost:3000",
        externalPxeUrl: "http://localhost:3000",
      },
      dataDir: join(dir, "data"),
      database: { url: SERVERS.DATABASE_URL },
      redis: { url: SERVERS.REDIS_URL },
      storage: { kind: "directory", path: join(dir, "data/objects") },
      source: {
        registry: "https://ghcr.io",
        publicName: "ghcr.io",
        username: null,
        password: null,
        verify: {
          kind: "keyless",
          identity: "(@siderolabs\\.com$|^releasemgr-svc@talos-production\\.iam\\.gserviceaccount\\.com$)",
          issuer: "https://accounts.google.com",
          trustRoot: null,
        },
        refreshMs: 900_000,
        minVersion: "1.2.0",
        brokenVersions: [],
      },
      build: { engine: { kind: "native" }, concurrency: 4, timeoutMs: 1_200_000 },
      ociSigningKey: null,
      secureBoot: { kind: "off" },
      installerRegistry: null,
      own: {
        mode: "off",
        adminToken: null,
        declarations: null,
        authFile: null,
        privateHosts: [],
        maxBytes: 2 ** 30,
        maxCount: 200,
        maxTotalBytes: 20 * 2 ** 30,
      },
      metricsPort: null,
      logLevel: "info",
    });
  });

  it("takes own extensions from everyone only where nothing else is said and it is somebody's own machine", () => {
    const modeOf = (variables: Record<string, string>) => config(variables).own.mode;
    expect(modeOf({ CASTHOUSE_EMBEDDED: "1", HOST: "127.0.0.1" })).toBe("everyone");
    expect(modeOf({ CASTHOUSE_EMBEDDED: "1", HOST: "::1" })).toBe("everyone");
    expect(modeOf({ CASTHOUSE_EMBEDDED: "1" })).toBe("off");
    expect(modeOf({ CASTHOUSE_EMBEDDED: "1", HOST: "127.example.org" })).toBe("off");
    expect(modeOf({ HOST: "127.0.0.1" })).toBe("off");
    expect(modeOf({ ADMIN_TOKEN: "0123456789abcdef" })).toBe("admin");
    expect(modeOf({ CASTHOUSE_EMBEDDED: "1", OWN_EXTENSIONS: "off" })).toBe("off");
  });

  it("derives what depends on something else", () => {
    expect(config({ PORT: "8080" }).http.externalUrl).toBe("http://localhost:8080");
    const { http } = config({
      EXTERNAL_URL: "https://factory.example.org/",
      EXTERNAL_PXE_URL: "http://pxe:8080/",
    });
    expect(http).toMatchObject({
      externalUrl: "https://factory.example.org",
      externalPxeUrl: "http://pxe:8080",
    });
    expect(config({ S3_BUCKET: "images" }).storage).toMatchObject({
      kind: "s3",
      region: "us-east-1",
      forcePathStyle: false,
    });
    expect(config({ S3_BUCKET: "bb", S3_ENDPOINT: "http://s3:9000" }).storage).toMatchObject({
      forcePathStyle: true,
    });
  });

  it("reads every kind of value", () => {
    const read = config({
      ...{ SOURCE_REGISTRY: "http://mirror:5000/ghcr/", SOURCE_REFRESH: "1h30m", BUILD_CONCURRENCY: "2" },
      ...{ MIN_TALOS_VERSION: "v1.9.0", BROKEN_TALOS_VERSIONS: "v1.9.1, 1.10.0-alpha.1", LOG_LEVEL: "debug" },
      ...{ DATA_DIR: "/srv/factory", BUILD_TIMEOUT: "90s" },
    });
    expect(read.source).toMatchObject({
      ...{ registry: "http://mirror:5000/ghcr", refreshMs: 5_400_000, minVersion: "1.9.0" },
      brokenVersions: ["1.9.1", "1.10.0-alpha.1"],
    });
    expect(read).toMatchObject({
      dataDir: "/srv/factory",
      build: { concurrency: 2, timeoutMs: 90_000 },
      logLevel: "debug",
    });
  });

  it("treats a variable that is set to nothing as not set", () => {
    expect(config({ PORT: "", S3_BUCKET: " ", SOURCE_VERIFY: "" })).toEqual(config());
  });

  it("reads secrets from files", () => {
    writeFileSync(join(dir, "db"), "postgresql://file@db/x\n");
    const result = load({ DATABASE_URL_FILE: "db", REDIS_URL: SERVERS.REDIS_URL });
    expect(result.ok && result.config.database.url).toBe("postgresql://file@db/x");
    expect(problems({ DATABASE_URL_FILE: "db" })).toEqual([
      "DATABASE_URL_FILE is set together with DATABASE_URL; set one of them",
    ]);
    const gone = load({ DATABASE_URL_FILE: "gone", REDIS_URL: SERVERS.REDIS_URL });
    expect(!gone.ok && gone.problems).toEqual([
      { name: "DATABASE_URL_FILE", message: "names gone, which cannot be read (ENOENT)" },
    ]);
  });

  it("reports all problems at once, each with its variable", () => {
    const found = problems({
      ...{
        PORT: "70000",
        EXTERNAL_URL: "factory.example.org",
        SOURCE_REGISTRY: "https://me:pw@ghcr.io",
        STORAGE: "disk",
      },
      ...{ SOURCE_REFRESH: "15", BUILD_CONCURRENCY: "0", LOG_LEVEL: "loud", S3_FORCE_PATH_STYLE: "maybe" },
      ...{
        MIN_TALOS_VERSION: "one",
        BROKEN_TALOS_VERSIONS: "1.2.3,x",
        DATABASE_URL: "mysql://x",
        S3_ACCESS_KEY_ID: "k",
      },
      ...{ SOURCE_VERIFY: "sometimes", SOURCE_VERIFY_IDENTITY: "(", SOURCE_VERIFY_ISSUER: "google" },
      ...{ SOURCE_TRUST_ROOT: "gone.json", BUILD_ENGINE: "docker", SOURCE_USERNAME: "me" },
    });
    expect(found.map((line) => line.split(" ")[0]).sort()).toEqual([
      ...[
        "BROKEN_TALOS_VERSIONS",
        "BUILD_CONCURRENCY",
        "BUILD_ENGINE",
        "DATABASE_URL",
        "EXTERNAL_URL",
        "LOG_LEVEL",
      ],
      ...[
        "MIN_TALOS_VERSION",
        "PORT",
        "S3_FORCE_PATH_STYLE",
        "S3_SECRET_ACCESS_KEY",
        "SOURCE_PASSWORD",
        "SOURCE_REFRESH",
      ],
      ...["SOURCE_REGISTRY", "SOURCE_TRUST_ROOT", "SOURCE_VERIFY", "SOURCE_VERIFY_IDENTITY"],
      ...["SOURCE_VERIFY_ISSUER", "STORAGE"],
    ]);
    expect(found).toContain("PORT must be a whole number from 1 to 65535");
    expect(found).toContain("SOURCE_VERIFY must be keyless, key:<file with a public key> or off");
    expect(found).toContain("SOURCE_VERIFY_IDENTITY must be a regular expression");
    expect(found).toContain("SOURCE_TRUST_ROOT names gone.json, which cannot be read");
    expect(found.join()).not.toContain("me:pw");
  });

  it("wants the two servers of a single process", () => {
    const result = load({});
    expect(!result.ok && result.problems.map(({ name }) => name)).toEqual(["DATABASE_URL", "REDIS_URL"]);
  });

  it("wants a readable key file", () => {
    writeFileSync(join(dir, "cosign.pub"), "PEM");
    expect(config({ SOURCE_VERIFY: "key:cosign.pub" }).source.verify).toEqual({
      kind: "key",
      file: join(dir, "cosign.pub"),
    });
    expect(problems({ SOURCE_VERIFY: "key:gone.pub" })).toEqual([
      "SOURCE_VERIFY names the key file gone.pub, which cannot be read",
    ]);
  });

  it.each([
    ["https://ghcr.io", "keyless"],
    ["http://mirror:5000", "keyless"],
    ["https://localhost.example.org", "keyless"],
    ["http://10.0.0.5:5000", "keyless"],
    ["http://127.mirror.example", "keyless"],
    ["http://127.0.0.1:5105", "off"],
    ["http://127.8.0.1:5105/prefix", "off"],
    ["http://[::1]:5000", "off"],
    ["http://localhost:5000", "off"],
    ["http://registry.localhost", "off"],
  ])("checks the images of %s: %s unless something else is chosen", (registry, kind) => {
    expect(config({ SOURCE_REGISTRY: registry }).source.verify.kind).toBe(kind);
    expect(config({ SOURCE_REGISTRY: registry, SOURCE_VERIFY: "off" }).source.verify.kind).toBe("off");
    expect(config({ SOURCE_REGISTRY: registry, SOURCE_VERIFY: "keyless" }).source.verify.kind).toBe(
      "keyless",
    );
    const { warnings } = load({ ...SERVERS, SOURCE_REGISTRY: registry });
    const told =
      kind === "off"
        ? ["is off, as SOURCE_REGISTRY is on this machine: signatures of source images are not checked"]
        : [];
    expect(warnings.map(({ message }) => message)).toEqual(told);
  });

  it("takes names and trust root of keyless signatures from the operator", () => {
    writeFileSync(join(dir, "root.json"), "{}");
    const names = { SOURCE_VERIFY_IDENTITY: "^ci@example\\.org$", SOURCE_VERIFY_ISSUER: "^https://(a|b)$" };
    expect(config({ ...names, SOURCE_TRUST_ROOT: "root.json" }).source.verify).toEqual({
      kind: "keyless",
      identity: "^ci@example\\.org$",
      issuer: "^https://(a|b)$",
      trustRoot: join(dir, "root.json"),
    });
  });

  it("makes an OCI signing key only where npm start holds everything", () => {
    expect(config().ociSigningKey).toBeNull();
    expect(config({ CASTHOUSE_EMBEDDED: "1" }).ociSigningKey).toEqual({
      file: join(dir, "data", "keys", "oci-signing.key"),
      create: true,
    });
    writeFileSync(join(dir, "oci.key"), "PEM");
    expect(config({ CASTHOUSE_EMBEDDED: "1", OCI_SIGNING_KEY: "oci.key" }).ociSigningKey).toEqual({
      file: join(dir, "oci.key"),
      create: false,
    });
    expect(problems({ OCI_SIGNING_KEY: "gone.key" })).toEqual([
      "OCI_SIGNING_KEY names gone.key, which cannot be read",
    ]);
  });

  it("takes the three SecureBoot files, all or none, and makes keys only where npm start holds everything", () => {
    expect(config({ CASTHOUSE_EMBEDDED: "1" }).secureBoot).toEqual({
      kind: "created",
      folder: join(dir, "data", "keys", "secureboot"),
    });
    for (const name of ["sb.key", "sb.crt", "pcr.key"]) writeFileSync(join(dir, name), "PEM");
    const files = {
      SECUREBOOT_SIGNING_KEY: "sb.key",
      SECUREBOOT_SIGNING_CERT: "sb.crt",
      SECUREBOOT_PCR_KEY: "pcr.key",
    };
    expect(config({ CASTHOUSE_EMBEDDED: "1", ...files }).secureBoot).toEqual({
      kind: "files",
      signingKey: join(dir, "sb.key"),
      signingCertificate: join(dir, "sb.crt"),
      pcrKey: join(dir, "pcr.key"),
    });
    expect(problems({ ...files, SECUREBOOT_PCR_KEY: "" })).toEqual([
      "SECUREBOOT_PCR_KEY is needed beside SECUREBOOT_SIGNING_KEY and SECUREBOOT_SIGNING_CERT",
    ]);
    expect(problems({ ...files, SECUREBOOT_SIGNING_CERT: "gone.crt" })).toEqual([
      "SECUREBOOT_SIGNING_CERT names the file gone.crt, which cannot be read",
    ]);
  });

  it("refuses example passwords as soon as the factory is to be reached from elsewhere", () => {
    const example = {
      DATABASE_URL: `postgresql://casthouse:${EXAMPLE_SECRET}@postgres:5432/casthouse`,
      REDIS_URL: `redis://:${EXAMPLE_SECRET}@valkey:6379`,
      ...{ S3_BUCKET: "bb", S3_ACCESS_KEY_ID: "casthouse", S3_SECRET_ACCESS_KEY: EXAMPLE_SECRET },
    };
    for (const url of ["", "http://localhost:3000", "http://127.0.0.2", "http://[::1]:3000"])
      expect(problems({ ...example, EXTERNAL_URL: url }), url).toEqual([]);
    const refused = problems({ ...example, EXTERNAL_URL: "https://factory.example.org" });
    expect(refused.map((line) => line.split(" ")[0])).toEqual([
      "DATABASE_URL",
      "REDIS_URL",
      "S3_SECRET_ACCESS_KEY",
    ]);
    expect(refused[0]).toContain("set POSTGRES_PASSWORD to a password of your own");
    expect(problems({ ...example, EXTERNAL_PXE_URL: "http://10.0.0.5:3000" })).toHaveLength(3);
    expect(problems({ EXTERNAL_URL: "https://factory.example.org" })).toEqual([]);
  });

  it("warns of what is set and not used", () => {
    const result = load({
      ...SERVERS,
      METRICS_PORT: "9090",
      STORAGE: "directory",
      S3_BUCKET: "bb",
      SOURCE_VERIFY: "off",
      SOURCE_TRUST_ROOT: "/etc/hostname",
    });
    expect(result.ok).toBe(true);
    expect(result.warnings.map(({ name }) => name).sort()).toEqual([
      "METRICS_PORT",
      "S3_BUCKET",
      "SOURCE_TRUST_ROOT",
      "SOURCE_VERIFY",
    ]);
  });
});

it.each([
  ["90s", 90_000],
  ["15m", 900_000],
  ["1h30m", 5_400_000],
  ["500ms", 500],
  ["2d", 172_800_000],
  ["15", null],
  ["m", null],
  ["-5m", null],
  ["1.5h", null],
  ["5 m", null],
])("parses the duration %s as %s", (text, ms) => expect(parseDuration(text)).toBe(ms));

describe("the documents", () => {
  it("describe every variable", () => {
    for (const name of SETTING_NAMES) expect(requireMeta(name).description, name).toMatch(/\.$/);
  });

  it("are what the schema says; run npm run gen when this fails", () => {
    expect(readFileSync("docs/config.md", "utf8")).toBe(renderConfigPage());
    expect(readFileSync(".env.example", "utf8")).toBe(renderEnvExample());
  });
});
