/** The one file a machine starts from, with everything that belongs to it. */
import { chain, downloadSteps } from "../../lib/domain/snippets/shell.ts";
import { CodeLine } from "../ui/code-line.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import type { Words } from "../words/translator.ts";
import { FileAction } from "./file-action.tsx";
import { FileBadge } from "./file-badge.tsx";
import { FileLinks } from "./file-links.tsx";
import { type FilePlace, type FileState, qrAddress } from "./file-state.ts";
import { Refusal } from "./refusal.tsx";

interface Props extends FilePlace {
  words: Words;
  file: FileState;
}

/** Command, links and QR code: for those who want more than the button. */
function Checks(props: Props) {
  const { words, file, base } = props;
  const { t } = words;
  const url = `${base}/${file.path}`;
  const caption = t(file.state === "absent" ? "file.curl.build" : "file.curl");
  return (
    <details className="no-print">
      <summary className="text-sm text-soft">{t("file.checks")}</summary>
      <div className="mt-3 flex flex-wrap items-start gap-6">
        <div className="min-w-0 flex-1 basis-72 space-y-4">
          <CodeLine caption={t("file.url")} text={url} />
          <CodeLine caption={caption} text={chain(downloadSteps(url))} block />
          <FileLinks {...props} qr={false} />
        </div>
        {/* biome-ignore lint/performance/noImgElement: a small drawing of our own, fetched when the fold opens */}
        <img
          src={qrAddress(props, file.path)}
          alt={t("result.qr", { file: file.path })}
          width={160}
          height={160}
          loading="lazy"
          className="rounded-md border border-line"
        />
      </div>
    </details>
  );
}

export function MainFile(props: Props) {
  const { words, file, base, schematic, version } = props;
  const { t } = words;
  const url = `${base}/${file.path}`;
  return (
    <div className="space-y-4 print:space-y-1.5">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 space-y-1.5">
          <h3 className="break-all font-mono text-base font-semibold">{file.path}</h3>
          <p className="max-w-prose text-sm text-soft">{t(`use.${file.use}`)}</p>
          <FileBadge words={words} file={file} schematic={schematic} />
        </div>
        {file.state !== "refused" && (
          <div className="no-print flex flex-wrap items-center gap-2">
            <FileAction
              words={words}
              href={url}
              ready={file.state === "ready" || file.state === "inline"}
              buildId={file.state === "building" ? file.build.id : null}
              request={{ schematic, version, path: file.path }}
              primary
            />
            <CopyButton text={url} what={`${t("file.url")} ${file.path}`} label={t("file.url.copy")} />
          </div>
        )}
      </div>
      <Refusal file={file} />
      <p className="hidden break-all font-mono text-xs print:block">{url}</p>
      {file.state === "ready" && <CodeLine caption="SHA-256" text={file.asset.sha256} />}
      {file.state !== "refused" && <Checks {...props} />}
    </div>
  );
}
