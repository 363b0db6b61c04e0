/** The parsed configuration; see docs/config.md (generated) for the variables. */
import type { ContainerRunnerName } from "../domain/container-runner.ts";
export interface Config {
  /** True under `npm run dev`: pages are compiled on demand and logs are for eyes. */
  development: boolean;
  /** Folder that holds the pages (.next, public). */
  appDir: string;
  /** Addresses are as webAddress() gives them: no trailing slash. */
  http: { host: string; port: number; externalUrl: string; externalPxeUrl: string };
  /** Absolute. */
  dataDir: string;
  database: { url: string };
  redis: { url: string };
  storage:
    | { kind: "directory"; path: string }
    | {
        kind: "s3";
        endpoint: string | null;
        bucket: string;
        region: string;
        accessKeyId: string | null;
        secretAccessKey: string | null;
        forcePathStyle: boolean;
      };
  source: {
    /** Base address with scheme, optional path prefix, no trailing slash. */
    registry: string;
    publicName: string;
    username: string | null;
    password: string | null;
    verify:
      | { kind: "off" }
      | { kind: "key"; file: string }
      /** `identity` and `issuer` as SOURCE_VERIFY_* have them; trustRoot is a file, null for Sigstore's own. */
      | { kind: "keyless"; identity: string; issuer: string; trustRoot: string | null };
    refreshMs: number;
    /** Without "v". */
    minVersion: string;
    /** Without "v". */
    brokenVersions: string[];
  };
  /** Registry that gets every finished installer; null when the factory serves them itself. */
  installerRegistry: { registry: string; username: string | null; password: string | null } | null;
  build: {
    engine:
      | { kind: "native" }
      | {
          kind: "container";
          runner: ContainerRunnerName | "auto";
          dockerHost: string | null;
          /** Image of the source registry; null for that of each release. */
          imager: { repository: string; tag: string | null; digest: string | null } | null;
        };
    concurrency: number;
    timeoutMs: number;
  };
  /** Signs installer images and files; null when the factory has no key. */
  ociSigningKey: { file: string; create: boolean } | null;
  /** Where the keys for SecureBoot are: nowhere, in PEM files, or in a folder where they are made when it is missing. */
  secureBoot:
    | { kind: "off" }
    | { kind: "files"; signingKey: string; signingCertificate: string; pcrKey: string }
    | { kind: "created"; folder: string };
  own: {
    mode: "off" | "admin" | "everyone";
    adminToken: string | null;
    /** Absolute. */
    declarations: string | null;
    /** Absolute. */
    authFile: string | null;
    privateHosts: string[];
    maxBytes: number;
    maxCount: number;
    maxTotalBytes: number;
  };
  metricsPort: number | null;
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "silent";
}
