/**
 * Images under the tags that Dockerfile and docker-compose.yml name, made of Debian packages where the real ones cannot be
 * pulled. They have what those images promise: programs, paths, users, variables.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fetchNode24 } from "../checks/node24.mjs";
import type { Docker } from "./docker.ts";

const BASE = "casthouse-try/debian:bookworm";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
const S3_MODULE = "github.com/versity/versitygw/cmd/versitygw";

interface StandIn {
  tag: string;
  /** Lines after FROM. */
  dockerfile: string[];
  /** Puts files into the folder the Dockerfile copies from. */
  prepare?: (folder: string) => void;
}

/** Builds each image of `tags`; an unknown one is an error, so that a changed file is noticed here. */
export async function makeStandIns(
  docker: Docker,
  tags: string[],
  place: { cacheDir: string; scratchDir: string },
  say: (line: string) => void,
): Promise<void> {
  const known = standIns(tags, place.cacheDir);
  say("base image of Debian packages");
  await docker.docker(["import", debianRoot(place.cacheDir), BASE]);
  for (const tag of tags) {
    const standIn = known.find((one) => one.tag === tag);
    if (!standIn)
      throw new Error(`there is no stand-in for ${tag}: add one to scripts/try-compose/stand-ins.ts`);
    say(`stand-in for ${tag}`);
    const folder = join(place.scratchDir, tag.replaceAll(/[^a-z0-9]/g, "-"));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    standIn.prepare?.(folder);
    writeFileSync(join(folder, "Dockerfile"), [`FROM ${BASE}`, ...standIn.dockerfile, ""].join("\n"));
    await docker.docker(["build", "--network=host", "-q", "-t", tag, "."], { cwd: folder });
  }
}

/** A minimal Debian as tar, kept between runs. */
function debianRoot(cacheDir: string): string {
  const path = join(cacheDir, "bookworm.tar");
  if (existsSync(path)) return path;
  mkdirSync(cacheDir, { recursive: true });
  const dump = execFileSync("apt-config", ["dump", "Acquire"], { encoding: "utf8" });
  const own = dump.split("\n").filter((line) => /^Acquire::(Check-|http::Proxy|https::Proxy)/.test(line));
  const args = ["--variant=minbase", "--include=ca-certificates", ...own.map((line) => `--aptopt=${line}`)];
  // An init that does not run must not be asked to start what a package brings.
  const policy = `printf '#!/bin/sh\\nexit 101\\n' > "$1/usr/sbin/policy-rc.d" && chmod 755 "$1/usr/sbin/policy-rc.d"`;
  const hooks = [policy, ...(existsSync(CERTIFICATES) ? [`cp ${CERTIFICATES} "$1${CERTIFICATES}"`] : [])];
  const command = [...args, ...hooks.map((hook) => `--customize-hook=${hook}`), "bookworm"];
  // The name must end in .tar: that is how it knows what to write.
  const partial = join(cacheDir, "bookworm-partial.tar");
  const result = spawnSync("mmdebstrap", ["--mode=root", ...command, partial], { encoding: "utf8" });
  if (result.status !== 0) throw new Error(`mmdebstrap failed:\n${result.stderr.slice(-3000)}`);
  renameSync(partial, path);
  return path;
}

function standIns(tags: string[], cacheDir: string): StandIn[] {
  const tagOf = (start: string) => tags.find((tag) => tag.startsWith(start)) ?? start;
  return [
    node(tagOf("node:24")),
    postgres(tagOf("postgres:")),
    valkey(tagOf("valkey/valkey:")),
    s3Gateway(tagOf("versity/versitygw:"), cacheDir),
  ];
}

const apt = (name: string): string =>
  `RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ${name}`;

const node = (tag: string): StandIn => ({
  tag,
  dockerfile: [
    "COPY files/ /usr/local/",
    `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`,
    "RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --create-home node",
    'CMD ["node"]',
  ],
  prepare: (folder) => {
    const files = join(folder, "files");
    mkdirSync(join(files, "bin"), { recursive: true });
    copyFileSync(join(fetchNode24(), "node"), join(files, "bin/node"));
    const modules = execFileSync("npm", ["root", "-g"], { encoding: "utf8" }).trim();
    cpSync(join(modules, "npm"), join(files, "lib/node_modules/npm"), {
      recursive: true,
      verbatimSymlinks: true,
    });
  },
});

const postgres = (tag: string): StandIn => ({
  tag,
  dockerfile: [
    apt("postgresql"),
    "COPY entrypoint.sh /usr/local/bin/",
    "VOLUME /var/lib/postgresql",
    'ENTRYPOINT ["entrypoint.sh"]',
  ],
  prepare: (folder) => script(join(folder, "entrypoint.sh"), POSTGRES_ENTRYPOINT),
});

const valkey = (tag: string): StandIn => ({
  tag,
  dockerfile: [
    apt("redis-server"),
    "RUN ln -s redis-server /usr/bin/valkey-server && ln -s redis-cli /usr/bin/valkey-cli",
    "WORKDIR /data",
    "VOLUME /data",
  ],
});

const s3Gateway = (tag: string, cacheDir: string): StandIn => ({
  tag,
  dockerfile: [
    apt("wget"),
    "COPY versitygw /usr/local/bin/",
    "RUN mkdir /data",
    'ENTRYPOINT ["/usr/local/bin/versitygw"]',
  ],
  prepare: (folder) => copyFileSync(gatewayProgram(tag, cacheDir), join(folder, "versitygw")),
});

/** The gateway of the tag's version, built from its Go module; takes some minutes the first time. */
function gatewayProgram(tag: string, cacheDir: string): string {
  const version = tag.split(":")[1] ?? "latest";
  const folder = join(cacheDir, `versitygw-${version}`);
  const path = join(folder, "versitygw");
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder, CGO_ENABLED: "0" };
  const result = spawnSync("go", ["install", `${S3_MODULE}@${version}`], { env, encoding: "utf8" });
  if (result.error)
    throw new Error(`the S3 gateway cannot be built: Go is not installed (${result.error.message})`);
  if (result.status !== 0) throw new Error(`go install ${S3_MODULE} failed:\n${result.stderr.slice(-3000)}`);
  return path;
}

function script(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** What the real image does on first start, for the variables that docker-compose.yml uses. */
const POSTGRES_ENTRYPOINT = `#!/bin/sh
set -e
bin=$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/postgresql/18/docker
as() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
chown postgres:postgres /var/lib/postgresql
if [ ! -s $data/PG_VERSION ]; then
  mkdir -p $data && chown -R postgres:postgres /var/lib/postgresql
  printf %s "$POSTGRES_PASSWORD" > /tmp/password && chown postgres /tmp/password
  as $bin/initdb -D $data -U "$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 >/dev/null
  rm /tmp/password
  sed -i 's/^local.*/local all all trust/' $data/pg_hba.conf
  echo 'host all all all scram-sha-256' >> $data/pg_hba.conf
  as $bin/pg_ctl -D $data -w -o "-c listen_addresses=''" start >/dev/null
  as $bin/createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  as $bin/pg_ctl -D $data -w stop >/dev/null
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups $bin/postgres -D $data -c listen_addresses='*'
`;
