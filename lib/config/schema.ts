/** Every environment variable of the program: one schema, from which docs/config.md and .env.example are written. */
import { z } from "zod";
import { CONTAINER_RUNNERS } from "../domain/container-runner.ts";
import { type LeafMeta, leaf, leafMeta } from "./leaf.ts";
import {
  addressOrPattern,
  duration,
  hostList,
  imageOfSource,
  oneOf,
  pattern,
  serverAddress,
  textLike,
  verification,
  version,
  versionList,
  webAddress,
  wholeNumber,
  yesNo,
} from "./values.ts";

const host = /^[A-Za-z0-9.:[\]_-]{1,255}$/;
const imageHost = /^[A-Za-z0-9.-]+(:\d{1,5})?(\/[A-Za-z0-9._-]+)*$/;
const bucketName = /^[A-Za-z0-9][A-Za-z0-9.-]{1,62}$/;
const anything = /\S/;

/**
 * Keys are the names of the variables. All are optional: what is missing has a default or comes from `npm start`.
 * Defaults that are values stand here as text (`prefault`), read like any other and shown in the documents as they are.
 */
export const settingsSchema = z.object({
  PORT: leaf(wholeNumber(1, 65_535).prefault("3000"), { group: "web" }, "Port the web process listens on."),
  HOST: leaf(
    textLike("a host name or address", host).prefault("0.0.0.0"),
    { group: "web" },
    "Address the web process listens on.",
  ),
  EXTERNAL_URL: leaf(
    webAddress({ path: false }).optional(),
    { group: "web", default: "http://localhost:$PORT" },
    "Address people and machines reach the factory at: base of every link, host of installer references.",
  ),
  EXTERNAL_PXE_URL: leaf(
    webAddress({ path: false }).optional(),
    { group: "web", default: "EXTERNAL_URL" },
    "Base used inside PXE scripts. May be plain http for firmware that knows no TLS.",
  ),
  DATA_DIR: leaf(
    textLike("a folder", anything).prefault("./data"),
    { group: "data" },
    "Folder for the embedded Postgres and Redis, the directory store, scratch space and keys.",
  ),
  DATABASE_URL: leaf(
    serverAddress(["postgresql", "postgres"]).optional(),
    { group: "data", default: "started by npm start", secret: true },
    "Postgres to use. When it is set no embedded one is started.",
  ),
  REDIS_URL: leaf(
    serverAddress(["redis", "rediss"]).optional(),
    { group: "data", default: "started by npm start", secret: true },
    "Redis or Valkey to use; it must run with maxmemory-policy noeviction. When it is set no embedded one is started.",
  ),
  STORAGE: leaf(
    oneOf(["directory", "s3"]).optional(),
    { group: "storage", default: "directory (s3 when S3_BUCKET is set)" },
    "Where artifacts are kept: directory is DATA_DIR/objects, s3 is a bucket.",
  ),
  S3_ENDPOINT: leaf(
    webAddress({ path: true }).optional(),
    { group: "storage", default: "Amazon's for the region" },
    "Address of the S3 server.",
  ),
  S3_BUCKET: leaf(
    textLike("a bucket name", bucketName).optional(),
    { group: "storage", default: "none" },
    "Bucket for artifacts; made at start when it is missing and the keys allow that.",
  ),
  S3_REGION: leaf(
    textLike("a region", anything).prefault("us-east-1"),
    { group: "storage" },
    "Region of the bucket.",
  ),
  S3_ACCESS_KEY_ID: leaf(
    textLike("an access key", anything).optional(),
    { group: "storage", default: "the AWS SDK's own chain", secret: true },
    "Access key of the S3 account.",
  ),
  S3_SECRET_ACCESS_KEY: leaf(
    textLike("a secret key", anything).optional(),
    { group: "storage", default: "the AWS SDK's own chain", secret: true },
    "Secret key of the S3 account.",
  ),
  S3_FORCE_PATH_STYLE: leaf(
    yesNo().optional(),
    { group: "storage", default: "true when S3_ENDPOINT is set" },
    "Put the bucket into the path instead of the host name; most servers other than Amazon's want that.",
  ),
  SOURCE_REGISTRY: leaf(
    webAddress({ path: true }).prefault("https://ghcr.io"),
    { group: "source" },
    "Registry that Talos releases are read from. http:// means plain; may carry a path prefix (proxy caches).",
  ),
  SOURCE_PUBLIC_NAME: leaf(
    textLike("a registry name like ghcr.io", imageHost).prefault("ghcr.io"),
    { group: "source" },
    "What image references shown to people start with.",
  ),
  SOURCE_USERNAME: leaf(
    textLike("a user name", anything).optional(),
    { group: "source", default: "anonymous" },
    "User name at the source registry.",
  ),
  SOURCE_PASSWORD: leaf(
    textLike("a password", anything).optional(),
    { group: "source", default: "anonymous", secret: true },
    "Password or token at the source registry.",
  ),
  SOURCE_VERIFY: leaf(
    verification().optional(),
    { group: "source", default: "keyless; off when SOURCE_REGISTRY is on this machine (loopback)" },
    "How signatures of source images are checked: keyless wants one by SOURCE_VERIFY_IDENTITY (Sigstore), key:<file> a cosign signature by that public key (PEM), off checks none and is shown as a warning.",
  ),
  SOURCE_VERIFY_IDENTITY: leaf(
    pattern().prefault(
      "(@siderolabs\\.com$|^releasemgr-svc@talos-production\\.iam\\.gserviceaccount\\.com$)",
    ),
    { group: "source" },
    "Whose keyless signatures count: a regular expression for the address in the signer's certificate.",
  ),
  SOURCE_VERIFY_ISSUER: leaf(
    addressOrPattern().prefault("https://accounts.google.com"),
    { group: "source" },
    'Who has to vouch for that address: an exact issuer, or a regular expression that begins with "^".',
  ),
  SOURCE_TRUST_ROOT: leaf(
    textLike("a file", anything).optional(),
    { group: "source", default: "Sigstore's own, fetched and kept up to date" },
    "trusted_root.json with the keys that keyless signatures are checked against. With it, nothing is asked of Sigstore.",
  ),
  SOURCE_REFRESH: leaf(
    duration("1s", "7d").prefault("15m"),
    { group: "source" },
    "How long the list of releases is trusted before it is read again.",
  ),
  MIN_TALOS_VERSION: leaf(
    version().prefault("1.2.0"),
    { group: "source" },
    "Oldest Talos version that is offered.",
  ),
  BROKEN_TALOS_VERSIONS: leaf(
    versionList().optional(),
    { group: "source", default: "none" },
    "Versions that are not offered, with commas between them.",
  ),
  INSTALLER_REGISTRY: leaf(
    webAddress({ path: true }).optional(),
    { group: "installers", default: "none: the factory serves installers itself" },
    "Registry that finished installers are pushed to; pulls are sent there once everything is there, if it serves them without credentials. http:// means plain; may carry a path prefix.",
  ),
  INSTALLER_REGISTRY_USERNAME: leaf(
    textLike("a user name", anything).optional(),
    { group: "installers", default: "anonymous" },
    "User name for pushing there.",
  ),
  INSTALLER_REGISTRY_PASSWORD: leaf(
    textLike("a password", anything).optional(),
    { group: "installers", default: "anonymous", secret: true },
    "Password or token for pushing there.",
  ),
  BUILD_ENGINE: leaf(
    oneOf(["native", "container"]).prefault("native"),
    { group: "build" },
    "How images are made: native by this program, container by an imager image that is given each profile (docs/engines.md).",
  ),
  BUILD_CONTAINER_RUNNER: leaf(
    oneOf(["auto", ...CONTAINER_RUNNERS]).prefault("auto"),
    { group: "build" },
    "What runs imager images when BUILD_ENGINE is container. auto is bubblewrap where user namespaces are allowed, else docker, else podman.",
  ),
  BUILD_IMAGER_IMAGE: leaf(
    imageOfSource().optional(),
    { group: "build", default: "siderolabs/imager of the release" },
    "Another imager image of the source registry for BUILD_ENGINE=container: repository, repository:tag or repository@sha256:…; without a tag the release's.",
  ),
  DOCKER_HOST: leaf(
    textLike("an address of a Docker daemon", anything).optional(),
    { group: "build", default: "docker's own" },
    "Docker daemon that runs imager images, for example unix:///run/docker.sock.",
  ),
  BUILD_CONCURRENCY: leaf(
    wholeNumber(1, 256).optional(),
    { group: "build", default: "number of cores" },
    "Builds that one worker runs at once.",
  ),
  BUILD_TIMEOUT: leaf(
    duration("10s", "24h").prefault("20m"),
    { group: "build" },
    "A build that takes longer is stopped.",
  ),
  SECUREBOOT_SIGNING_KEY: secureBootFile(
    "PEM file with the RSA key that signs EFI programs for SecureBoot; docs/secureboot.md says more. SecureBoot is off when none of the three is set, but for npm start, which makes its own.",
  ),
  SECUREBOOT_SIGNING_CERT: secureBootFile(
    "PEM file with the certificate of that key. PK.auth, KEK.auth and db.auth beside it are used when all three are there.",
  ),
  SECUREBOOT_PCR_KEY: secureBootFile("PEM file with the RSA key that signs expected TPM measurements."),
  OCI_SIGNING_KEY: leaf(
    textLike("a file", anything).optional(),
    { group: "keys", default: "created under DATA_DIR/keys by npm start, else off" },
    "PEM file with the private key that signs installer images and files: ECDSA on P-256, PKCS#8 or SEC1.",
  ),
  OWN_EXTENSIONS: leaf(
    oneOf(["off", "admin", "everyone"]).optional(),
    {
      group: "own",
      default:
        "admin where there is an ADMIN_TOKEN; else everyone under npm start on a loopback HOST; else off",
    },
    "Who may bring extensions and overlays of their own: off nobody, admin whoever sends ADMIN_TOKEN, everyone whoever reaches the server.",
  ),
  ADMIN_TOKEN: leaf(
    textLike("a token of at least 16 characters", /^\S{16,}$/).optional(),
    {
      group: "own",
      default: "made once in DATA_DIR/admin-token by npm start, unless HOST is loopback",
      secret: true,
    },
    "Token that administrators send as Authorization: Bearer, or type on the page of own extensions.",
  ),
  OWN_EXTENSIONS_FILE: leaf(
    textLike("a file", anything).optional(),
    { group: "own", default: "none" },
    "YAML file that declares own sources; read at start and when it changes (docs/own-extensions.md).",
  ),
  OWN_REGISTRY_AUTH_FILE: leaf(
    textLike("a file", anything).optional(),
    { group: "own", default: "anonymous" },
    "Credentials of registries that own sources are in, in the form of docker's config.json. Whoever may add sources can use them; where that is everyone, only declared sources do.",
  ),
  OWN_PRIVATE_REGISTRIES: leaf(
    hostList().optional(),
    { group: "own", default: "none" },
    "Hosts, with port where they have one, that own sources may name although they are private addresses; also those without TLS, written http://host.",
  ),
  OWN_EXTENSIONS_MAX_SIZE: leaf(
    wholeNumber(1, 100_000).prefault("1024"),
    { group: "own" },
    "Largest image or upload of an own source, in MiB.",
  ),
  OWN_EXTENSIONS_MAX_COUNT: leaf(
    wholeNumber(1, 100_000).prefault("200"),
    { group: "own" },
    "Own extensions and overlays that are kept in use or on offer at once.",
  ),
  OWN_EXTENSIONS_MAX_TOTAL: leaf(
    wholeNumber(1, 100_000_000).prefault("20480"),
    { group: "own" },
    "What all own extensions and overlays may take together, retired ones and uploads on their way included, in MiB.",
  ),
  METRICS_PORT: leaf(
    wholeNumber(1, 65_535).optional(),
    { group: "running", default: "off", planned: true },
    "Port for Prometheus metrics.",
  ),
  LOG_LEVEL: leaf(
    oneOf(["trace", "debug", "info", "warn", "error", "silent"]).prefault("info"),
    { group: "running" },
    "Least important log lines that are written.",
  ),
});

function secureBootFile(description: string) {
  const path = textLike("a file", anything).optional();
  return leaf(path, { group: "keys", default: "made once in DATA_DIR/keys by npm start" }, description);
}

export type Settings = z.output<typeof settingsSchema>;
export type SettingName = keyof Settings;

/** Names in the order of the documentation. */
export const SETTING_NAMES: readonly SettingName[] = settingsSchema.keyof().options;

/** What is known of a variable besides how it is parsed. */
export function requireMeta(name: SettingName): LeafMeta & { default: string; description: string } {
  const schema = settingsSchema.shape[name];
  const meta = leafMeta.get(schema);
  const fallback = schema instanceof z.ZodPrefault ? String(schema.def.defaultValue) : meta?.default;
  if (!meta || fallback === undefined) throw new Error(`${name} has no description or no default`);
  return { ...meta, default: fallback, description: schema.description ?? "" };
}
