/** Checks of the container of a service: entry point, environment, mounts (OCI runtime-spec, Mounts) and security. */
import type { ExtensionService } from "../../domain/extension-report.ts";
import type { FileMap, MappedFile } from "./file-map.ts";
import type { Findings } from "./findings.ts";
import { onMachine, resolveSeen, type Seen } from "./scope.ts";
import { checkMounts } from "./service-mounts.ts";
import { isRecord, isTexts, textOf, unknownKeys } from "./service-values.ts";

/** Where a definition lies and whose container root it is about. */
export interface Place {
  path: string;
  name: string;
  scope: string;
}

type Container = Omit<ExtensionService, "name"> & { entrypoint: MappedFile | null };

const KEYS = ["entrypoint", "environmentFile", "environment", "args", "mounts", "security"];
const SECURITY_FLAGS = ["writeableRootfs", "writeableSysfs"];
const SECURITY_LISTS = ["maskedPaths", "readonlyPaths"];
const PROPAGATION = [
  "private",
  "rprivate",
  "shared",
  "rshared",
  "slave",
  "rslave",
  "unbindable",
  "runbindable",
];
const PATH = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"];

/** `container` of a definition. */
export function checkContainer(map: FileMap, place: Place, value: unknown, findings: Findings): Container {
  const { path, name } = place;
  if (!isRecord(value)) {
    findings.error("service-entrypoint", `The service ${name} has no container with an entrypoint`, {
      path,
      hint: "container: { entrypoint: ./program }",
    });
    return { environment: [], environmentFile: null, mounts: [], entrypoint: null };
  }
  unknownKeys(value, KEYS, "container.", path, findings);
  if (value.args !== undefined && !isTexts(value.args))
    findings.error("service-value", `container.args in ${path} is no list of texts`, {
      path,
      hint: "Put numbers and true or false into quotes.",
    });
  checkSecurity(value.security, path, findings);
  const mounts = checkMounts(value.mounts, path, findings);
  return {
    environment: checkEnvironment(value.environment, path, findings),
    environmentFile: checkEnvironmentFile(value.environmentFile, path, findings),
    mounts,
    entrypoint: checkEntrypoint(map, { ...place, mounts }, value.entrypoint, findings),
  };
}

function checkEntrypoint(
  map: FileMap,
  place: Place & { mounts: readonly Seen[] },
  value: unknown,
  findings: Findings,
): MappedFile | null {
  const { path, name, scope, mounts } = place;
  const entrypoint = textOf(value) ?? "";
  if (entrypoint === "") {
    findings.error("service-entrypoint", `The service ${name} does not say what it starts`, {
      path,
      hint: "container: { entrypoint: ./program }",
    });
    return null;
  }
  if (map.resolve("", scope) === null) return null;
  const candidates = entrypoint.includes("/")
    ? [entrypoint]
    : [entrypoint, ...PATH.map((folder) => `${folder}/${entrypoint}`)];
  const found = candidates.map((one) => resolveSeen(map, scope, mounts, one)).find((one) => one !== null);
  if (found === undefined && candidates.some((one) => onMachine(mounts, one) !== null)) {
    findings.warning(
      "service-entrypoint-mounted",
      `The service ${name} starts ${entrypoint}, which it would see through a mount`,
      { path, hint: "The extension does not bring it: the machine, or another extension, has to." },
    );
    return null;
  }
  if (found === undefined) {
    findings.error(
      "service-entrypoint-missing",
      `The service ${name} starts ${entrypoint}, which is not there`,
      {
        path,
        hint: `It is looked for inside ${scope}, the root of the service's container.`,
      },
    );
    return null;
  }
  if (found.kind === "file" && (found.mode & 0o111) !== 0) return found;
  findings.error("service-entrypoint-mode", `The service ${name} starts ${found.path}, which cannot be run`, {
    path: found.path,
    hint: found.kind === "file" ? `chmod 755 rootfs/${found.path}` : "Name a file.",
  });
  return null;
}

function checkEnvironment(value: unknown, path: string, findings: Findings): string[] {
  if (value === undefined || value === null) return [];
  const isRight = isTexts(value) && value.every((one) => /^[^=\s]+=/.test(one));
  if (!isRight)
    findings.error("service-environment", `container.environment in ${path} is no list of NAME=value`, {
      path,
    });
  return isTexts(value) ? value : [];
}

function checkEnvironmentFile(value: unknown, path: string, findings: Findings): string | null {
  if (value === undefined || value === null) return null;
  const file = textOf(value);
  if (file?.startsWith("/") !== true)
    findings.error("service-environment", `container.environmentFile in ${path} is no absolute path`, {
      path,
    });
  else
    findings.hint("service-environment-file", `The service waits until the machine has ${file}`, {
      path,
      hint: "ExtensionServiceConfig documents set the environment without a file.",
    });
  return file;
}

function checkSecurity(value: unknown, path: string, findings: Findings): void {
  if (value === undefined || value === null) return;
  if (!isRecord(value)) {
    findings.error("service-security", `container.security in ${path} has no keys and values`, { path });
    return;
  }
  const known = [...SECURITY_FLAGS, ...SECURITY_LISTS, "rootfsPropagation"];
  unknownKeys(value, known, "container.security.", path, findings);
  const wrong = (key: string, needs: string) =>
    findings.error("service-security", `container.security.${key} in ${path} is not ${needs}`, { path });
  for (const key of SECURITY_FLAGS)
    if (value[key] !== undefined && typeof value[key] !== "boolean") wrong(key, "true or false");
  for (const key of SECURITY_LISTS) {
    const list = value[key];
    if (list !== undefined && !(isTexts(list) && list.every((one) => one.startsWith("/"))))
      wrong(key, "a list of absolute paths");
  }
  const propagation = value.rootfsPropagation;
  if (propagation !== undefined && !(typeof propagation === "string" && PROPAGATION.includes(propagation)))
    wrong("rootfsPropagation", `one of ${PROPAGATION.join(", ")}`);
}
