/** `npm run conformance`: the pull half of the OCI distribution-spec's conformance program against this factory. Needs Go. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestFactory } from "../tests/fixtures/factory.ts";

const MODULE = "github.com/opencontainers/distribution-spec/conformance";
const MODULE_VERSION = "v0.0.0-20260831232431-97274622c111";
const VERSION = "v1.13.2";
const BIN = join(import.meta.dirname, "../.cache/go");
const PROGRAM = join(BIN, "conformance");

function build(): void {
  if (existsSync(PROGRAM)) return;
  console.log(`conformance: building ${MODULE}`);
  const environment = { ...process.env, GOBIN: BIN };
  const { status } = spawnSync("go", ["install", `${MODULE}@${MODULE_VERSION}`], {
    env: environment,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("go install failed; is Go 1.24 or newer installed?");
}

async function describeImage(base: string, repository: string): Promise<Record<string, string>> {
  const ask = async (reference: string) => {
    const reply = await fetch(`${base}/v2/${repository}/manifests/${reference}`);
    if (!reply.ok) throw new Error(`${reply.url}: ${reply.status} ${await reply.text()}`);
    return { digest: reply.headers.get("docker-content-digest") ?? "", json: await reply.json() };
  };
  const index = await ask(VERSION);
  const image = await ask(index.json.manifests[0].digest);
  const blobs = [image.json.config, ...image.json.layers].map((blob: { digest: string }) => blob.digest);
  return {
    OCI_RO_DATA_TAGS: `${VERSION} latest`,
    OCI_RO_DATA_MANIFESTS: `${index.digest} ${image.digest}`,
    OCI_RO_DATA_BLOBS: blobs.join(" "),
    OCI_RO_DATA_REFERRERS: index.digest,
  };
}

/** The program cannot write its report when pushing is off (it ends in a panic), so its words decide. */
function run(base: string, repository: string, facts: Record<string, string>, results: string): boolean {
  const off = ["API_PUSH", "API_BLOBS_DELETE", "API_MANIFESTS_DELETE", "API_TAGS_DELETE"];
  const { stdout, stderr } = spawnSync(PROGRAM, {
    encoding: "utf8",
    env: {
      ...process.env,
      OCI_REGISTRY: new URL(base).host,
      OCI_TLS: "disabled",
      OCI_REPO1: repository,
      OCI_REPO2: repository,
      OCI_RESULTS_DIR: results,
      ...Object.fromEntries(off.map((name) => [`OCI_${name}`, "false"])),
      ...facts,
    },
  });
  const lines = stdout.split("\n").filter((line) => !/Disabled|Unknown/.test(line));
  console.log(
    lines
      .slice(
        0,
        lines.findIndex((line) => line.startsWith("Configuration:")),
      )
      .join("\n"),
  );
  console.log(
    lines.filter((line) => /^(OCI Conformance Result| {2}(Pass|FAIL|Total)\.)/.test(line)).join("\n"),
  );
  const passed = /^OCI Conformance Result: Pass$/m.test(stdout);
  if (!passed) console.error(stderr.slice(-2_000));
  return passed;
}

async function main(): Promise<void> {
  build();
  const results = await mkdtemp(join(tmpdir(), "casthouse-conformance-"));
  const factory = await startTestFactory({ sample: { tags: [VERSION] } });
  try {
    const repository = `metal-installer/${await factory.schematic("customization: {}")}`;
    const facts = await describeImage(factory.url, repository);
    process.exitCode = run(factory.url, repository, facts, results) ? 0 : 1;
  } finally {
    await factory.stop();
    await rm(results, { recursive: true, force: true });
  }
}

await main();
