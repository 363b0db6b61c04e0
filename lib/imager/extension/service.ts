/** Checks of the services that an extension defines in usr/local/etc/containers (docs/own-extensions.md, A service). */
import { parseDocument } from "yaml";
import type { ExtensionService } from "../../domain/extension-report.ts";
import type { FileMap, MappedFile } from "./file-map.ts";
import type { Findings } from "./findings.ts";
import { CONTAINERS, DEFINITIONS } from "./scope.ts";
import { checkContainer } from "./service-container.ts";
import { checkDepends, checkRestart } from "./service-start.ts";
import { isRecord, textOf, unknownKeys } from "./service-values.ts";

export interface DefinedService extends ExtensionService {
  /** Root of its container inside rootfs. */
  scope: string;
  /** What it starts; null when there is no such file. */
  entrypoint: MappedFile | null;
}

const NAME = /^[a-z0-9_-]+$/;
const KEYS = ["name", "container", "depends", "restart", "logToConsole"];
const MOST_BYTES = 64 * 1024;
const MOST_SERVICES = 100;

/** Reads every definition and says what is wrong with it. */
export async function checkServices(map: FileMap, findings: Findings): Promise<DefinedService[]> {
  const services: DefinedService[] = [];
  const entries = map
    .all()
    .filter(({ path, kind }) => path.startsWith(`${DEFINITIONS}/`) && kind !== "folder");
  if (entries.length > MOST_SERVICES)
    findings.error("service-too-many", `The extension has ${entries.length} service definitions`, {
      path: DEFINITIONS,
      hint: `Split it: one has at most ${MOST_SERVICES}.`,
    });
  for (const entry of entries.slice(0, MOST_SERVICES)) {
    const { path } = entry;
    const file = path.slice(DEFINITIONS.length + 1);
    if (!/^[^/]+\.yaml$/.test(file)) {
      findings.warning("service-file-ignored", `${path} is no definition that is read`, {
        path,
        hint: `Definitions are ${DEFINITIONS}/<name>.yaml.`,
      });
      continue;
    }
    const target = map.resolve("", path);
    if (target?.kind !== "file") continue;
    const service = await readService(map, target, file.slice(0, -".yaml".length), findings);
    if (service !== null) services.push(service);
  }
  checkRoots(map, services, findings);
  return services;
}

async function readService(
  map: FileMap,
  entry: MappedFile,
  fileName: string,
  findings: Findings,
): Promise<DefinedService | null> {
  const { path } = entry;
  const definition = await readDefinition(map, entry, findings);
  if (definition === null) return null;
  unknownKeys(definition, KEYS, "", path, findings);
  const name = textOf(definition.name) ?? "";
  if (!NAME.test(name)) {
    findings.error("service-name", `${path} names its service ${JSON.stringify(definition.name ?? null)}`, {
      path,
      hint: "A name has lower-case letters, digits, dashes and underscores.",
    });
    return null;
  }
  if (name !== fileName)
    findings.warning("service-file-name", `${path} defines the service ${name}`, {
      path,
      hint: `Call the file ${name}.yaml, so that two extensions cannot define one service unnoticed.`,
    });
  checkRestart(definition.restart, path, findings);
  checkDepends(definition.depends, path, findings);
  if (definition.logToConsole !== undefined && typeof definition.logToConsole !== "boolean")
    findings.error("service-value", `logToConsole in ${path} is neither true nor false`, { path });
  const scope = `${CONTAINERS}/${name}`;
  return { name, scope, ...checkContainer(map, { path, name, scope }, definition.container, findings) };
}

async function readDefinition(
  map: FileMap,
  entry: MappedFile,
  findings: Findings,
): Promise<Record<string, unknown> | null> {
  const { path } = entry;
  const wrong = (reason: string) => {
    findings.error("service-yaml", `${path} is no service definition: ${reason}`, {
      path,
      hint: "casthouse extension new --service writes one to start from.",
    });
    return null;
  };
  if (entry.sizeBytes > MOST_BYTES) return wrong("it is larger than 64 KiB");
  const bytes = await map.reading(entry, (read) => read(0, MOST_BYTES));
  const document = parseDocument(new TextDecoder().decode(bytes), { uniqueKeys: true });
  const [error] = document.errors;
  if (error !== undefined) return wrong(error.message.split("\n")[0] ?? "it is not YAML");
  try {
    const value: unknown = document.toJS({ maxAliasCount: 50 });
    return isRecord(value) ? value : wrong("it has no keys and values");
  } catch {
    return wrong("it uses too many aliases");
  }
}

/** A service needs the folder of its container, and such a folder is of no use without a service. */
function checkRoots(map: FileMap, services: readonly DefinedService[], findings: Findings): void {
  for (const { name, scope } of services)
    if (map.resolve("", scope)?.kind !== "folder")
      findings.error("service-without-root", `The service ${name} has no container root ${scope}`, {
        path: `${DEFINITIONS}/${name}.yaml`,
        hint: "Put its program and all that it needs there.",
      });
  const names = new Set(services.map(({ name }) => name));
  for (const { path, kind } of map.all()) {
    const name = path.startsWith(`${CONTAINERS}/`) ? path.slice(CONTAINERS.length + 1) : "";
    if (kind !== "folder" || name === "" || name.includes("/")) continue;
    if (names.has(name) || map.at(`${DEFINITIONS}/${name}.yaml`) !== null) continue;
    findings.warning("root-without-service", `No service uses the container root ${path}`, {
      path,
      hint: `Define it in ${DEFINITIONS}/${name}.yaml.`,
    });
  }
}
