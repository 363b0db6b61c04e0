/** Checks of single files: where they lie, who may write them, where their links lead. */
import { dirname, normalize } from "node:path/posix";
import type { Quirks } from "../../domain/quirks.ts";
import type { FileMap, MappedFile } from "./file-map.ts";
import type { Findings } from "./findings.ts";
import { CONTAINERS, onMachine, type Seen, scopeOf } from "./scope.ts";
import type { DefinedService } from "./service.ts";

/** Where files of extensions may lie (docs/own-extensions.md, Where files may lie). */
const ALLOWED = [
  ...["etc/cri/conf.d", "etc/ld.so.cache", "etc/ld.so.conf", "etc/vulkan"],
  ...["usr/bin/ldconfig", "usr/bin/nvidia-cdi-hook", "usr/bin/nvidia-ctk", "usr/bin/nvidia-modprobe"],
  ...["usr/bin/nvidia-pcc", "usr/bin/nvidia-smi", "usr/bin/nvme"],
  ...["usr/lib/firmware", "usr/lib/ld-linux-aarch64.so.1", "usr/lib/ld-linux-x86-64.so.2"],
  ...["usr/lib/modules", "usr/lib/udev/rules.d", "usr/local", "usr/share/egl", "usr/share/glvnd"],
];
/** Only read by releases before 1.10. */
const OLD_PLACES = ["lib/firmware", "lib/modules"];
const SIZE_WARNING_BYTES = 500 * 1024 ** 2;
const MIB = 1024 ** 2;
/** File systems that are there as soon as something runs. */
const RUNNING = /^\/(dev|proc|run|sys|var\/run)(\/|$)/;

/** Checks each file on its own, and all together for their size. */
export async function checkFiles(
  map: FileMap,
  { rules, services }: { rules: Quirks | null; services: readonly DefinedService[] },
  findings: Findings,
  signal?: AbortSignal,
): Promise<void> {
  const entries = map.all();
  if (!entries.some(({ kind }) => kind !== "folder"))
    findings.error("rootfs-empty", "rootfs holds no file", {
      path: "rootfs",
      hint: "An extension that adds nothing cannot be told from one that failed.",
    });
  const mountsOf = new Map(services.map(({ scope, mounts }) => [scope, mounts]));
  await map.each((entry) => {
    checkKind(entry, findings);
    checkPlace(entry, rules, findings);
    checkMode(entry, findings);
    if (entry.linkTo !== undefined) checkLink(map, entry, entry.linkTo, mountsOf, findings);
  }, signal);
  const sizeBytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  if (sizeBytes > SIZE_WARNING_BYTES)
    findings.warning("size", `The files have ${Math.ceil(sizeBytes / MIB)} MiB together`, {
      hint: "They are part of every image, and each machine keeps them in memory: leave out what it does not need.",
    });
}

function checkKind({ path, kind }: MappedFile, findings: Findings): void {
  if (kind === "special")
    findings.error("special-file", `${path} is a device, a pipe or a socket`, {
      path,
      hint: "Extensions hold files, folders and symbolic links only; the kernel makes devices on the machine.",
    });
}

function checkPlace({ path, kind }: MappedFile, rules: Quirks | null, findings: Findings): void {
  if (kind === "folder") return;
  // ld.so.conf stands for ld.so.conf.d as well.
  if (ALLOWED.some((one) => path === one || path.startsWith(`${one}/`) || path.startsWith(`${one}.`))) return;
  const old = OLD_PLACES.some((place) => path.startsWith(`${place}/`));
  if (old && (rules === null || rules.kernelModulePath === "/lib/modules")) return;
  if (old)
    findings.error("old-place", `${path} lies where only releases before 1.10 look`, {
      path,
      hint: `Move it to usr/${path}.`,
    });
  else
    findings.error("path-not-allowed", `${path} lies where an extension may not put files`, {
      path,
      hint: "Put programs and data below usr/local; docs/own-extensions.md lists the places.",
    });
}

function checkMode({ path, kind, mode }: MappedFile, findings: Findings): void {
  if (kind !== "file" && kind !== "folder") return;
  const shown = mode.toString(8).padStart(4, "0");
  if ((mode & 0o002) !== 0 && !(kind === "folder" && (mode & 0o1000) !== 0))
    findings.error("world-writable", `${path} may be changed by everyone (mode ${shown})`, {
      path,
      hint: `chmod o-w rootfs/${path}`,
    });
  else if ((mode & 0o002) !== 0)
    // The /tmp of a container lies on a read-only file system.
    findings.add(
      path.startsWith(`${CONTAINERS}/`) ? "hint" : "warning",
      "world-writable-folder",
      `Everyone may put files into ${path} (mode ${shown})`,
      { path, hint: "Mount a tmpfs there in the service definition if the service needs it." },
    );
  if (kind === "file" && (mode & 0o6000) !== 0)
    findings.warning("setuid", `${path} runs with the rights of its owner or group (mode ${shown})`, {
      path,
      hint: `chmod ug-s rootfs/${path}, unless it is meant to.`,
    });
}

function checkLink(
  map: FileMap,
  entry: MappedFile,
  linkTo: string,
  mountsOf: ReadonlyMap<string, readonly Seen[]>,
  findings: Findings,
): void {
  const { path } = entry;
  if (climbs(path, linkTo)) {
    findings.error("link-climbs-out", `The link ${path} leads out of the extension: ${linkTo}`, {
      path,
      hint: "Write where it leads on the machine, as an absolute path.",
    });
    return;
  }
  const scope = scopeOf(path);
  const inside = path.slice(scope === "" ? 0 : scope.length + 1);
  if (map.resolve(scope, inside) !== null) return;
  const target = linkTo.startsWith("/") ? normalize(linkTo) : normalize(`/${dirname(inside)}/${linkTo}`);
  const mounts = mountsOf.get(scope) ?? [];
  if (RUNNING.test(target) || onMachine(mounts, target) !== null) return;
  // Outside a container the rest of the system is there too.
  if (scope === "" && !target.startsWith("/usr/local/")) return;
  findings.warning("link-dangling", `The link ${path} leads to ${linkTo}, which is not there`, {
    path,
    hint:
      scope === ""
        ? "Add what it leads to, or remove it."
        : `Inside the service / is ${scope}, the folder of its container below ${CONTAINERS}.`,
  });
}

/** True when a relative target, followed from the link's folder, passes above the top. */
function climbs(path: string, linkTo: string): boolean {
  if (linkTo.startsWith("/")) return false;
  let depth = path.split("/").length - 1;
  for (const part of linkTo.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
