/** Which sections a unified kernel image gets, in which order (UAPI.5 unified kernel image). */

/** Text given as is, or a file of the build named by its role. */
export type UkiContent =
  | { text: string }
  | { file: "kernel" | "initramfs" }
  /** Signatures over the measurements of the profile with this number; "main" is 0. */
  | { signatureOf: number };

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
  /** PEM of the key that signs measurements; null for an image that is not signed. */
  pcrPublicKey: string | null;
}

/** Text of a .profile section, without newline at the end. */
const profileText = (id: string, title?: string): string =>
  title === undefined ? `ID=${id}` : `ID=${id}\nTITLE=${title}`;

/** The sections to append to the stub, in order. The first .cmdline, .linux and .initrd are the main ones. */
export function ukiSections(description: UkiDescription): UkiSection[] {
  const { kernelRelease, profiles, pcrPublicKey } = description;
  const signature = (profile: number): UkiSection[] =>
    pcrPublicKey === null ? [] : [{ name: ".pcrsig", content: { signatureOf: profile } }];
  const main: UkiSection[] = [
    { name: ".osrel", content: { text: description.osRelease } },
    { name: ".cmdline", content: { text: description.commandLine } },
    ...(kernelRelease === null ? [] : [{ name: ".uname", content: { text: kernelRelease } }]),
    ...(pcrPublicKey === null ? [] : [{ name: ".pcrpkey", content: { text: pcrPublicKey } }]),
    { name: ".linux", content: { file: "kernel" } },
    { name: ".initrd", content: { file: "initramfs" } },
  ];
  if (!description.hasProfiles) return [...main, ...signature(0)];
  return [
    ...main,
    { name: ".profile", content: { text: profileText("main") } },
    ...signature(0),
    ...profiles.flatMap(({ id, title, commandLine }, index) => [
      { name: ".profile", content: { text: profileText(id, title) } },
      { name: ".cmdline", content: { text: commandLine } },
      ...signature(index + 1),
    ]),
  ];
}

/**
 * What firmware measures when it starts the profile with this number: the sections before the first .profile, those of
 * the profile in their place. Of several sections with one name the first of each group counts.
 */
export function sectionsOfProfile<T extends { name: string }>(
  sections: readonly T[],
  profile: number,
): Map<string, T> {
  const measured = new Map<string, T>();
  const own = new Map<string, T>();
  let current = -1;
  for (const section of sections) {
    if (section.name === ".profile") current += 1;
    const group = current < 0 ? measured : own;
    if (current >= 0 && current !== profile) continue;
    if (!group.has(section.name)) group.set(section.name, section);
  }
  for (const [name, section] of own) measured.set(name, section);
  return measured;
}
