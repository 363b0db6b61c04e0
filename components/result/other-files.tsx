/** All other files of the same choice, folded. */
import { CopyButton } from "../ui/copy-button.tsx";
import type { Words } from "../words/translator.ts";
import { FileAction } from "./file-action.tsx";
import { FileBadge } from "./file-badge.tsx";
import { FileLinks } from "./file-links.tsx";
import type { FilePlace, FileState } from "./file-state.ts";
import { Refusal } from "./refusal.tsx";

interface RowProps extends FilePlace {
  words: Words;
  file: FileState;
}

function Row(props: RowProps) {
  const { words, file, base, schematic, version } = props;
  const { t } = words;
  const url = `${base}/${file.path}`;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-64 space-y-0.5">
        <p className="break-all font-mono text-sm">{file.path}</p>
        <p className="text-sm text-soft">{t(`use.${file.use}.short`)}</p>
        <Refusal file={file} />
        {file.state === "ready" && (
          <p className="break-all font-mono text-xs text-soft">{file.asset.sha256}</p>
        )}
        {file.state !== "refused" && <FileLinks {...props} />}
      </div>
      <FileBadge words={words} file={file} schematic={schematic} />
      {file.state !== "refused" && (
        <div className="flex items-center gap-2">
          <CopyButton text={url} what={`${t("file.url")} ${file.path}`} />
          <FileAction
            words={words}
            href={url}
            ready={file.state === "ready" || file.state === "inline"}
            buildId={file.state === "building" ? file.build.id : null}
            request={{ schematic, version, path: file.path }}
          />
        </div>
      )}
    </li>
  );
}

interface Props extends FilePlace {
  words: Words;
  files: FileState[];
}

export function OtherFiles({ words, files, ...place }: Props) {
  return (
    <details className="no-print border-t border-line pt-6">
      <summary className="text-lg font-semibold">{words.plural("result.others", files.length)}</summary>
      <ul className="mt-2 divide-y divide-line">
        {files.map((file) => (
          <Row key={file.path} words={words} file={file} {...place} />
        ))}
      </ul>
    </details>
  );
}
