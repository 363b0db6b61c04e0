/** What can be asked about a file: checksum, signature, QR code. */
import type { Words } from "../words/translator.ts";
import { type FilePlace, qrAddress } from "./file-state.ts";

interface Props extends FilePlace {
  words: Words;
  file: { path: string };
  /** False where the code is shown already. */
  qr?: boolean;
}

export function FileLinks({ words, file, qr = true, ...place }: Props) {
  const { t } = words;
  const url = `${place.base}/${file.path}`;
  const links: [label: string, href: string][] = [
    ["SHA-256", `${url}.sha256`],
    [t("file.signature"), `${url}.sigstore.json`],
  ];
  if (qr) links.push([t("file.qr"), qrAddress(place, file.path)]);
  return (
    <p className="no-print flex flex-wrap gap-x-4 gap-y-1 text-xs">
      {links.map(([label, href]) => (
        <a key={label} href={href} className="link py-0.5" rel="nofollow">
          {label}
          <span className="sr-only"> {file.path}</span>
        </a>
      ))}
    </p>
  );
}
