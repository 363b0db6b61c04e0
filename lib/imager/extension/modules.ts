/** Checks of kernel modules: for which kernel they are, and whether releases that demand a signature would load them. */
import type { Quirks } from "../../domain/quirks.ts";
import type { FileMap, MappedFile } from "./file-map.ts";
import type { Findings } from "./findings.ts";
import type { Program } from "./program.ts";
import type { CheckedRelease } from "./types.ts";

const MODULE = /^((?:usr\/)?lib\/modules)\/([^/]+)\/.*\.ko(\.(?:xz|zst|gz))?$/;
/** Ends every signed module (kernel documentation, Kernel module signing facility). */
const SIGNED = "~Module signature appended~\n";

interface Module {
  entry: MappedFile;
  kernel: string;
  packed: boolean;
}

/** Gives the kernels that the extension has modules for. */
export async function checkModules(
  map: FileMap,
  programs: ReadonlyMap<string, Program>,
  { release, rules }: { release: CheckedRelease | null; rules: Quirks | null },
  findings: Findings,
): Promise<string[]> {
  const modules = map.all().flatMap((entry): Module[] => {
    const [, , kernel, packed] = MODULE.exec(entry.path) ?? [];
    return entry.kind === "file" && kernel !== undefined
      ? [{ entry, kernel, packed: packed !== undefined }]
      : [];
  });
  for (const module of modules) {
    const elf = programs.get(module.entry.path)?.elf ?? null;
    if (module.packed)
      findings.hint("module-packed", `${module.entry.path} is compressed; its inside is not checked`, {
        path: module.entry.path,
      });
    else if (elf?.kind !== "relocatable")
      findings.error("module-broken", `${module.entry.path} is no kernel module`, {
        path: module.entry.path,
      });
    else {
      checkMagic(module, elf.modinfo, findings);
      if (rules?.moduleSignatures !== false) await checkSignature(map, module, rules !== null, findings);
    }
  }
  const kernels = [...new Set(modules.map(({ kernel }) => kernel))].sort();
  checkKernels(map, kernels, release, findings);
  return kernels;
}

/** The kernel refuses modules that were built for another one. */
function checkMagic({ entry, kernel }: Module, modinfo: readonly string[], findings: Findings): void {
  const magic = modinfo.find((field) => field.startsWith("vermagic="))?.slice("vermagic=".length) ?? "";
  const [built = ""] = magic.split(" ");
  if (built === kernel) return;
  findings.error(
    "module-vermagic",
    built === ""
      ? `${entry.path} does not say for which kernel it was built`
      : `${entry.path} was built for the kernel ${built}, but lies in the folder of ${kernel}`,
    { path: entry.path, hint: `Build it against the kernel ${kernel}.` },
  );
}

async function checkSignature(
  map: FileMap,
  { entry }: Module,
  isDemanded: boolean,
  findings: Findings,
): Promise<void> {
  const { path, sizeBytes } = entry;
  const tail = await map.reading(entry, (read) =>
    read(Math.max(0, sizeBytes - SIGNED.length), SIGNED.length),
  );
  if (Buffer.from(tail).toString("latin1") === SIGNED) {
    findings.hint(
      "module-signer",
      "Kernels load modules only when their own build signed them; that cannot be seen here",
      {
        path,
        hint: "Modules must be built together with the kernel of the release.",
      },
    );
    return;
  }
  const message = `${path} is not signed; Talos 1.12 and later do not load it`;
  const hint = "Have it signed when the kernel of the release is built, or start with module.sig_enforce=0.";
  if (isDemanded) findings.error("module-unsigned", message, { path, hint });
  else findings.warning("module-unsigned", message, { path, hint });
}

function checkKernels(
  map: FileMap,
  kernels: readonly string[],
  release: CheckedRelease | null,
  findings: Findings,
): void {
  const kernel = release?.kernel ?? null;
  const folder = ["usr/lib/modules", "lib/modules"].find((path) => map.at(path) !== null);
  if (release === null || kernel === null || folder === undefined) return;
  if (map.at(`${folder}/${kernel}`) !== null) return;
  findings.error(
    "module-kernel",
    `${release.version} has the kernel ${kernel}; the extension has modules for ${kernels.join(", ") || "none"}`,
    { path: folder, hint: `Build the modules against the kernel ${kernel}, into ${folder}/${kernel}.` },
  );
}
