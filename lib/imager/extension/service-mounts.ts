/** Checks of the mounts of a service's container (OCI runtime-spec 1.2, Mounts). */
import type { ExtensionService } from "../../domain/extension-report.ts";
import type { Findings } from "./findings.ts";
import { isRecord, textOf, unknownKeys } from "./service-values.ts";

const MOST_MOUNTS = 200;
const KEYS = ["destination", "type", "source", "options", "uidMappings", "gidMappings"];
const FLAGS =
  "async acl atime bind defaults dev diratime dirsync exec iversion lazytime loud mand noacl noatime nodev nodiratime noexec noiversion nolazytime nomand norelatime nostrictatime nosuid nosymfollow private relatime remount ro runbindable rprivate rshared rslave rw shared silent slave strictatime suid symfollow sync tmpcopyup unbindable";
/** The same for everything below. */
const RECURSIVE =
  "ratime rbind rdev rdiratime rexec rnoatime rnodev rnodiratime rnoexec rnorelatime rnostrictatime rnosuid rnosymfollow rrelatime rro rrw rstrictatime rsuid rsymfollow";
const KNOWN = new Set([...FLAGS.split(" "), ...RECURSIVE.split(" ")]);

/** `container.mounts`; gives those that can be read. */
export function checkMounts(value: unknown, path: string, findings: Findings): ExtensionService["mounts"] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    findings.error("service-mount", `container.mounts in ${path} is no list`, { path });
    return [];
  }
  const mounts: ExtensionService["mounts"] = [];
  const members: unknown[] = value;
  if (members.length > MOST_MOUNTS)
    findings.error("service-mount", `${path} has ${members.length} mounts, more than ${MOST_MOUNTS}`, {
      path,
    });
  for (const mount of members.slice(0, MOST_MOUNTS)) {
    const read = checkMount(mount, path, findings);
    if (read === null) continue;
    if (mounts.some(({ destination }) => destination === read.destination))
      findings.warning("service-mount-twice", `${path} mounts ${read.destination} twice`, { path });
    mounts.push(read);
  }
  return mounts;
}

function checkMount(
  mount: unknown,
  path: string,
  findings: Findings,
): ExtensionService["mounts"][number] | null {
  const wrong = (reason: string, hint: string) => {
    findings.error("service-mount", `A mount in ${path} ${reason}`, { path, hint });
    return null;
  };
  const example = "- { source: /run, destination: /run, type: bind, options: [rbind, ro] }";
  if (!isRecord(mount)) return wrong(`is ${JSON.stringify(mount)}`, example);
  unknownKeys(mount, KEYS, "container.mounts.", path, findings);
  const destination = textOf(mount.destination) ?? "";
  if (!destination.startsWith("/")) return wrong("has no absolute destination", example);
  const options: unknown[] = Array.isArray(mount.options) ? mount.options : [];
  if (mount.options !== undefined && mount.options !== null && !Array.isArray(mount.options))
    return wrong(`on ${destination} has options that are no list`, "options: [rbind, ro]");
  const type = textOf(mount.type) ?? "";
  const isBind = type === "bind" || options.includes("bind") || options.includes("rbind");
  const source = textOf(mount.source) ?? "";
  if (isBind && !source.startsWith("/")) return wrong(`on ${destination} has no absolute source`, example);
  if (!isBind && type === "")
    return wrong(`on ${destination} has no type`, "type: bind, tmpfs or another file system");
  checkOptions(options, { destination, isBind }, path, findings);
  return { source, destination };
}

function checkOptions(
  options: unknown[],
  { destination, isBind }: { destination: string; isBind: boolean },
  path: string,
  findings: Findings,
): void {
  for (const option of options) {
    const known = typeof option === "string" && (KNOWN.has(option) || (!isBind && option.includes("=")));
    if (!known)
      findings.error(
        "service-mount-option",
        `The mount on ${destination} in ${path} has the unknown option ${JSON.stringify(option)}`,
        {
          path,
          hint: "Known are rbind, ro, rw, rshared, nosuid, nodev, noexec and others of the OCI runtime.",
        },
      );
  }
}
