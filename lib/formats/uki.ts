/** Which sections a unified kernel image gets, in which order (UAPI.5 unified kernel image). */

/** Text given as is, or a file of the build named by its role. */
export type UkiContent = { text: string } | { file: "kernel" | "initramfs" };

export interface UkiSection {
  name: string;
  content: UkiContent;
}

export interface UkiDescription {
  osRelease: string;
  commandLine: string;
  /** Kernel release; null leaves the section out. */
  kernelRelease: string | null;
  /** False: the version knows no profiles, and there must be none. */
  hasProfiles: boolean;
  /** Entries after "main". */
  profiles: { id: string; title: string; commandLine: string }[];
}

/** Text of a .profile section, without newline at the end. */
export const profileText = (id: string, title?: string): string =>
  title === undefined ? `ID=${id}` : `ID=${id}\nTITLE=${title}`;

/** The sections to append to the stub, in order. The first .cmdline, .linux and .initrd are the main ones. */
export function ukiSections(description: UkiDescription): UkiSection[] {
  const { kernelRelease, profiles } = description;
  const main: UkiSection[] = [
    { name: ".osrel", content: { text: description.osRelease } },
    { name: ".cmdline", content: { text: description.commandLine } },
    ...(kernelRelease === null ? [] : [{ name: ".uname", content: { text: kernelRelease } }]),
    { name: ".linux", content: { file: "kernel" } },
    { name: ".initrd", content: { file: "initramfs" } },
  ];
  if (!description.hasProfiles) return main;
  return [
    ...main,
    { name: ".profile", content: { text: profileText("main") } },
    ...profiles.flatMap(({ id, title, commandLine }) => [
      { name: ".profile", content: { text: profileText(id, title) } },
      { name: ".cmdline", content: { text: commandLine } },
    ]),
  ];
}
