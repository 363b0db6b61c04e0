/** The files of a new extension, which passes its own checks and can be packed as it is. */
import type { Arch } from "../../domain/asset.ts";
import { extensionManifest } from "../../formats/extension-manifest.ts";
import { CONTAINERS, DEFINITIONS } from "./scope.ts";
import { starterProgram } from "./starter-program.ts";

export interface StarterOptions {
  /** Short name; also that of the service. */
  name: string;
  /** Whether it runs something on the machine. */
  service: boolean;
  /** Of the program of the service. */
  arch: Arch;
}

export interface StarterFile {
  path: string;
  content: string | Uint8Array;
  mode: number;
}

/** Releases that read firmware, modules and service definitions as new extensions have them. */
const TALOS = ">= v1.10.0";

/** Paths are relative to the extension's folder. */
export function starterFiles({ name, service, arch }: StarterOptions): StarterFile[] {
  const manifest = extensionManifest({
    name,
    version: "0.1.0",
    author: "Your name",
    description: service ? `The service ${name}` : `Files of ${name}`,
    compatibility: { talos: { version: TALOS } },
  });
  const files: StarterFile[] = [{ path: "manifest.yaml", content: manifest, mode: 0o644 }];
  if (!service) {
    const content = `Files below rootfs appear at the same place on the machine.\n`;
    return [...files, { path: `rootfs/usr/local/share/${name}/README`, content, mode: 0o644 }];
  }
  const program = starterProgram(arch, `${name} 0.1.0 is running\n`);
  return [
    ...files,
    { path: `rootfs/${DEFINITIONS}/${name}.yaml`, content: definition(name), mode: 0o644 },
    { path: `rootfs/${CONTAINERS}/${name}/${name}`, content: program, mode: 0o755 },
  ];
}

const definition = (
  name: string,
): string => `# The service ext-${name}. / is rootfs/${CONTAINERS}/${name} for it.
name: ${name}
container:
  # Replace the program; this one only writes a line and sleeps.
  entrypoint: ./${name}
  environment:
    - LOG_LEVEL=info
  mounts:
    # Folders of the machine that the service sees.
    - source: /run
      destination: /run
      type: bind
      options: [rbind, rshared, rw]
  security:
    writeableRootfs: false
depends:
  - network: [addresses]
restart: always
`;
