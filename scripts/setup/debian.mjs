/** Debian packages: which are missing, and installing them without starting a service. */
import { execFileSync, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const POLICY = "/usr/sbin/policy-rc.d";

/** Packages of a group ("run", "demo", "test", "boots", "compose"; each holds "run") that are not installed. */
export function missingPackages(group) {
  const installed = installedPackages();
  return wantedPackages(group).filter(
    ({ name, program }) => !installed.has(name) && !(program && isInPath(program)),
  );
}

/** Installs the packages as root, through sudo, or says which line to type. */
export function installPackages(names, say) {
  if (!existsSync("/usr/bin/apt-get")) {
    throw new Error(`please install what Debian calls: ${names.join(" ")}`);
  }
  const prefix = privilege(names);
  withoutServices(prefix, () => {
    if (!hasPackageLists()) update(prefix, say);
    if (install(prefix, names).status === 0) return;
    update(prefix, say);
    const again = install(prefix, names);
    if (again.status !== 0)
      throw new Error(`apt-get could not install ${names.join(" ")}${complaints(again)}`);
  });
}

function wantedPackages(group) {
  const lists = JSON.parse(readFileSync("scripts/setup/debian-packages.json", "utf8"));
  const sample = JSON.parse(readFileSync("scripts/sample-release/packages.json", "utf8"));
  const plain = (names) => names.map((name) => ({ name }));
  const wanted = [...toolPackages(), ...plain(lists.imaging), ...plain(lists.run)];
  if (group !== "run") wanted.push(...plain(sample.build));
  if (group === "demo" || group === "test" || group === "boots") wanted.push(...plain(sample.boot));
  if (group === "boots") wanted.push(...plain(lists.test));
  if (group === "test" || group === "compose" || group === "boots") wanted.push(...plain(lists[group]));
  return [...new Map(wanted.map((entry) => [entry.name + (entry.program ?? ""), entry])).values()];
}

/** The allow-list of lib/exec/tools.ts is the truth about the imaging tools. */
export function toolPackages() {
  const text = readFileSync("lib/exec/tools.ts", "utf8");
  return [...text.matchAll(/^ {2}"?([\w.-]+)"?: "([\w.+-]+)",$/gm)].map(([, program, name]) => ({
    name,
    program,
  }));
}

/** Names of what a container of the factory needs, sorted. */
export function containerPackages() {
  const lists = JSON.parse(readFileSync("scripts/setup/debian-packages.json", "utf8"));
  const names = [...toolPackages().map(({ name }) => name), ...lists.imaging, ...lists.container];
  return [...new Set(names)].sort();
}

function installedPackages() {
  const status = "/var/lib/dpkg/status";
  if (!existsSync(status)) return new Set();
  // One paragraph per package; essential ones have a line between name and status.
  const paragraphs = readFileSync(status, "utf8").split("\n\n");
  const installed = paragraphs.filter((paragraph) => /^Status: \S+ ok installed$/m.test(paragraph));
  return new Set(installed.map((paragraph) => /^Package: (\S+)$/m.exec(paragraph)?.[1]));
}

function isInPath(program) {
  return FOLDERS.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Words to put before a command that needs root. */
function privilege(names) {
  if (process.getuid() === 0) return [];
  const sudo = spawnSync("sudo", ["-n", "true"], { stdio: "ignore" });
  if (sudo.status === 0) return ["sudo"];
  if (sudo.error === undefined && process.stdin.isTTY) return ["sudo"];
  throw new Error(
    `these packages are missing and need root; please run as root (or with sudo before apt-get):\n\n${byHand(names)}\n`,
  );
}

/** The lines that somebody with rights types. */
function byHand(names) {
  const install = `  apt-get install --no-install-recommends ${names.join(" ")}`;
  return hasPackageLists() ? install : `  apt-get update\n${install}`;
}

/** invoke-rc.d and deb-systemd-invoke ask policy-rc.d; exit code 101 forbids to start what is being installed. */
function withoutServices(prefix, work) {
  const ours = !existsSync(POLICY);
  if (ours)
    asRoot(prefix, ["sh", "-c", `printf '#!/bin/sh\\nexit 101\\n' > ${POLICY} && chmod 755 ${POLICY}`]);
  try {
    work();
  } finally {
    if (ours) asRoot(prefix, ["rm", "-f", POLICY]);
  }
}

function asRoot(prefix, command) {
  const [program, ...args] = [...prefix, ...command];
  execFileSync(program, args, { stdio: "inherit" });
}

function hasPackageLists() {
  const folder = "/var/lib/apt/lists";
  return existsSync(folder) && readdirSync(folder).some((name) => /_Packages(\.|$)/.test(name));
}

function update(prefix, say) {
  say("refreshing the package lists (apt-get update)");
  const result = apt(prefix, ["update", "-qq"]);
  if (!hasPackageLists()) throw new Error(`apt-get update fetched no package lists${complaints(result)}`);
}

function install(prefix, names) {
  return apt(prefix, ["install", "-y", "-qq", "--no-install-recommends", ...names]);
}

function apt(prefix, args) {
  const command = [...prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", ...args];
  return spawnSync(command[0], command.slice(1), {
    encoding: "utf8",
    stdio: ["inherit", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  });
}

/** What apt-get complained of, shortened, and what to do when it could not fetch anything. */
export function complaints({ stdout, stderr }) {
  const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => /^(E|W|Err|dpkg):/.test(line));
  const shown = [...new Set(lines)].slice(-6).map((line) => `\n  ${line.trim()}`);
  const unreached = lines.some((line) => /Failed to fetch|Temporary failure|Could not connect/.test(line));
  const hint =
    "\nPlease see that this machine reaches its package servers (/etc/apt/sources.list*), then try again.";
  return `${shown.length > 0 ? `; it says:${shown.join("")}` : ""}${unreached ? hint : ""}`;
}
