/** Everything a schematic says apart from its extensions, as a flat list of named texts; secrets are told by length. */
import { plainOption } from "./overlay-options.ts";
import { canonicalSchematic } from "./schematic-canonical.ts";
import type { Schematic } from "./schematic-types.ts";

export interface SchematicField {
  /** Path as the document spells it: "customization.bootloader", "overlay.options.configTxtAppend". */
  path: string;
  text: string;
  /** True: the text is kept back when shown, only whether it differs is told. */
  secret: boolean;
}

const field = (path: string, value: unknown, secret = false): SchematicField[] =>
  value === undefined || value === "" || value === false || value === 0n
    ? []
    : [{ path, text: typeof value === "string" ? value : String(value), secret }];

function overlayFields({ overlay }: Schematic): SchematicField[] {
  if (overlay === undefined) return [];
  const options = [...(overlay.options ?? [])].flatMap(([name, value]) => {
    const plain = plainOption(value);
    return field(`overlay.options.${name}`, typeof plain === "string" ? plain : JSON.stringify(plain));
  });
  const sorted = options.sort((a, b) => (a.path < b.path ? -1 : 1));
  return [...field("overlay.image", overlay.image), ...field("overlay.name", overlay.name), ...sorted];
}

/** Values of one key keep their order, which counts; a second value of a key is numbered. */
function metaFields(meta: { key: number; value: string }[]): SchematicField[] {
  const seen = new Map<number, number>();
  return meta.map(({ key, value }) => {
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    const hex = `0x${key.toString(16).padStart(2, "0")}`;
    return { path: `meta ${hex}${nth === 1 ? "" : ` #${nth}`}`, text: value, secret: false };
  });
}

/** All fields that are set, in the order of the document. Extensions and kernel arguments are not among them. */
export function schematicFields(schematic: Schematic): SchematicField[] {
  const { owner, customization } = schematic;
  const { embeddedMachineConfiguration, meta, bootloader, secureboot, diskImage } = customization;
  return [
    ...field("owner", owner),
    ...overlayFields(schematic),
    ...field("embeddedMachineConfiguration", embeddedMachineConfiguration, true),
    ...metaFields(meta ?? []),
    ...field("bootloader", bootloader),
    ...field("secureboot.enrollKeys", secureboot?.enrollKeys),
    ...field("secureboot.includeWellKnownCertificates", secureboot?.includeWellKnownCertificates),
    ...field("diskImage.sectorSize", diskImage?.sectorSize),
  ];
}

/** Lines of a text; one that ends in a line break has no line after it. */
export const countLines = (text: string): number => text.replace(/\n$/, "").split("\n").length;

/** The canonical text with `words` in place of the machine configuration, for reading only: it has another ID. */
export function canonicalWithoutSecrets(schematic: Schematic, words: (lines: number) => string): string {
  const { customization } = schematic;
  const { embeddedMachineConfiguration: configuration } = customization;
  if (!configuration) return canonicalSchematic(schematic);
  const shown = { ...customization, embeddedMachineConfiguration: words(countLines(configuration)) };
  return canonicalSchematic({ ...schematic, customization: shown });
}
