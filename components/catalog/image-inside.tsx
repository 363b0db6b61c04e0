/** What is in one image: sizes and files, or the way to have them read. */
import { ARCHES, type Arch } from "../../lib/domain/asset.ts";
import type { EntryVersion } from "../../lib/domain/catalog/catalog-index.ts";
import type { ImageContents } from "../../lib/services/catalog/contracts.ts";
import { Notice } from "../ui/notice.tsx";
import type { Words } from "../words/translator.ts";

/** Where the look into an image stands. */
export type Inside =
  | { state: "read"; contents: ImageContents }
  | { state: "reading" }
  | { state: "failed"; reason: string }
  /** Not asked for yet; null bytes when the source does not say in time. */
  | { state: "closed"; transferBytes: number | null };

interface Props {
  words: Words;
  image: EntryVersion;
  arch: Arch;
  inside: Inside;
  archHref: (arch: Arch) => string;
  readHref: string;
}

interface ClosedProps {
  words: Words;
  transferBytes: number | null;
  readHref: string;
}

const FIRST_FILES = 40;

function Files({ words, contents }: { words: Words; contents: ImageContents }) {
  const { files, fileCount } = contents;
  const rest = files.slice(FIRST_FILES);
  const unnamed = fileCount - files.length;
  const rows = (some: ImageContents["files"]) =>
    some.map(({ path, sizeBytes, target }) => (
      <tr key={path} className="border-t border-line align-baseline">
        <td className="break-all py-1 pr-4 font-mono text-xs">
          {path}
          {target !== null && <span className="text-soft"> → {target}</span>}
        </td>
        <td className="whitespace-nowrap py-1 text-right text-xs text-soft">
          {target === null && words.size(sizeBytes)}
        </td>
      </tr>
    ));
  const head = (
    <thead className="sr-only">
      <tr>
        <th scope="col">{words.t("entry.file")}</th>
        <th scope="col">{words.t("entry.size")}</th>
      </tr>
    </thead>
  );
  return (
    <>
      <table className="w-full">
        {head}
        <tbody>{rows(files.slice(0, FIRST_FILES))}</tbody>
      </table>
      {rest.length > 0 && (
        <details>
          <summary className="py-2 text-sm font-medium">
            {words.plural("entry.more-files", rest.length)}
          </summary>
          <table className="w-full">
            {head}
            <tbody>{rows(rest)}</tbody>
          </table>
        </details>
      )}
      {unnamed > 0 && <p className="text-sm text-soft">{words.plural("entry.unnamed", unnamed)}</p>}
    </>
  );
}

function Facts({ words, contents }: { words: Words; contents: ImageContents }) {
  const { t } = words;
  const range = contents.manifest?.compatibility.talos.version ?? "";
  const facts: [string, string][] = [
    [t("entry.transfer"), words.size(contents.compressedBytes)],
    [t("entry.unpacked"), words.size(contents.unpackedBytes)],
    [t("entry.files"), words.number(contents.fileCount)],
    ...(range === "" ? [] : [[t("entry.range"), range] satisfies [string, string]]),
  ];
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="eyebrow">{name}</dt>
          <dd className="text-sm">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function ArchLinks({ words, arch, archHref }: Pick<Props, "words" | "arch" | "archHref">) {
  return (
    <nav aria-label={words.t("arch.title")} className="flex gap-2">
      {ARCHES.map((one) => (
        <a
          key={one}
          href={archHref(one)}
          aria-current={one === arch ? "page" : undefined}
          className={`button button-small ${one === arch ? "border-accent bg-accent-wash" : ""}`}
        >
          {one}
        </a>
      ))}
    </nav>
  );
}

/** Nothing was read yet: how to ask for it, and what that costs. */
function Closed({ words, transferBytes, readHref }: ClosedProps) {
  const { t } = words;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <a href={readHref} className="button" rel="nofollow">
        {t("entry.inside.read")}
      </a>
      {transferBytes !== null && (
        <span className="text-sm text-soft">
          {t("entry.inside.cost", { size: words.size(transferBytes) })}
        </span>
      )}
    </div>
  );
}

/** The page asks again by itself. */
function Reading({ words }: { words: Words }) {
  return (
    <>
      <meta httpEquiv="refresh" content="3" />
      <Notice tone="plain">
        <span role="status">{words.t("entry.inside.reading")}</span>
      </Notice>
    </>
  );
}

export function ImageInside({ words, image, arch, inside, archHref, readHref }: Props) {
  const { t } = words;
  return (
    <section id="inside" aria-labelledby="inside-title" className="scroll-mt-4 space-y-4">
      <div className="flex flex-wrap items-baseline justify-between gap-3">
        <h2 id="inside-title" className="text-lg font-semibold">
          {t("entry.inside.of", { version: image.version })}
        </h2>
        <ArchLinks words={words} arch={arch} archHref={archHref} />
      </div>
      {inside.state === "closed" && (
        <Closed words={words} transferBytes={inside.transferBytes} readHref={readHref} />
      )}
      {inside.state === "reading" && <Reading words={words} />}
      {inside.state === "failed" && (
        <Notice tone="bad">{t("entry.inside.failed", { reason: inside.reason })}</Notice>
      )}
      {inside.state === "read" && (
        <>
          <Facts words={words} contents={inside.contents} />
          <Files words={words} contents={inside.contents} />
        </>
      )}
    </section>
  );
}
