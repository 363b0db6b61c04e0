/** The os-release text in the .osrel section of a UKI (freedesktop os-release, UAPI.5). */

/** os-release of a distribution `name` at `version`, both verbatim; the id is the name in lower case with "_" for spaces. */
export function osRelease(name: string, version: string): string {
  const id = name.toLowerCase().replaceAll(" ", "_");
  return [
    `NAME="${name}"`,
    `ID=${id}`,
    `VERSION_ID=${version}`,
    `PRETTY_NAME="${name} (${version})"`,
    'HOME_URL="https://www.talos.dev/"',
    'BUG_REPORT_URL="https://github.com/siderolabs/talos/issues"',
    'VENDOR_NAME="Sidero Labs"',
    'VENDOR_URL="https://www.siderolabs.com/"',
    "",
  ].join("\n");
}
