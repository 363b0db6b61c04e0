/** One file of a schematic: what it is for, where it stands, how to get it. */
import { Badge } from "../ui/badge.tsx";
import { CodeLine } from "../ui/code-line.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import type { Words } from "../words/translator.ts";
import { FileAction } from "./file-action.tsx";
import type { FileState } from "./file-state.ts";

interface Props {
  words: Words;
  file: FileState;
  /** Address of the folder of files, without trailing slash. */
  base: string;
  schematic: string;
  version: string;
}

/** Size, percent or what happens when it is asked for. */
function State({ words, file }: Pick<Props, "words" | "file">) {
  const { t, size } = words;
  switch (file.state) {
    case "ready":
      return (
        <span className="flex items-baseline gap-2 text-sm">
          <Badge tone="good">{t("file.ready")}</Badge>
          <span>{size(file.asset.sizeBytes)}</span>
        </span>
      );
    case "building":
      return <Badge tone="accent">{t("file.building", { percent: Math.floor(file.build.percent) })}</Badge>;
    case "inline":
      return <Badge>{t("file.inline")}</Badge>;
    case "absent":
      return <Badge>{t("file.absent")}</Badge>;
    case "refused":
      return <Badge>{t("file.refused")}</Badge>;
  }
}

function action(props: Props, primary: boolean) {
  const { words, file, base, schematic, version } = props;
  if (file.state === "refused") return null;
  return (
    <FileAction
      words={words}
      href={`${base}/${file.path}`}
      ready={file.state === "ready" || file.state === "inline"}
      buildId={file.state === "building" ? file.build.id : null}
      request={{ schematic, version, path: file.path }}
      primary={primary}
    />
  );
}

function Refusal({ file }: Pick<Props, "file">) {
  if (file.state !== "refused") return null;
  return (
    <p className="text-sm text-soft">
      {file.reason} {file.hint}
    </p>
  );
}

/** The command that fetches a file and checks it; folded where it would only be in the way. */
function Command({ words, file, base, folded }: Props & { folded: boolean }) {
  const caption = words.t(file.state === "absent" ? "file.curl.build" : "file.curl");
  const url = `${base}/${file.path}`;
  const line = (
    <CodeLine caption={caption} text={`curl -fLO ${url} && curl -fsSL ${url}.sha256 | sha256sum -c`} />
  );
  if (!folded) return line;
  return (
    <details>
      <summary className="text-sm text-soft">{words.t("file.command")}</summary>
      <div className="mt-2">{line}</div>
    </details>
  );
}

/** A file this machine boots from, with everything to paste. */
export function MainFile(props: Props & { primary: boolean }) {
  const { words, file, base, primary } = props;
  const { t } = words;
  const url = `${base}/${file.path}`;
  return (
    <li className="space-y-4 py-6">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 space-y-1.5">
          <h3 className="break-all font-mono text-base font-semibold">{file.path}</h3>
          <p className="text-sm text-soft">{t(`use.${file.use}`)}</p>
          <State words={words} file={file} />
        </div>
        <div className="flex items-center gap-2">
          <CopyButton text={url} what={`${t("file.url")} ${file.path}`} label={t("file.url.copy")} />
          {action(props, primary)}
        </div>
      </div>
      <Refusal file={file} />
      {file.state !== "refused" && <Command {...props} folded={!primary && file.state !== "ready"} />}
      {file.state === "ready" && <CodeLine caption="SHA-256" text={file.asset.sha256} />}
    </li>
  );
}

/** Any other file, in one line. */
export function OtherFile(props: Props) {
  const { words, file, base } = props;
  const { t } = words;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1 basis-64">
        <p className="break-all font-mono text-sm">{file.path}</p>
        {file.state === "refused" ? (
          <Refusal file={file} />
        ) : (
          <p className="text-sm text-soft">{t(`use.${file.use}.short`)}</p>
        )}
        {file.state === "ready" && (
          <p className="break-all font-mono text-xs text-soft">{file.asset.sha256}</p>
        )}
      </div>
      <State words={words} file={file} />
      {file.state !== "refused" && (
        <div className="flex items-center gap-2">
          <CopyButton text={`${base}/${file.path}`} what={`${t("file.url")} ${file.path}`} />
          {action(props, false)}
        </div>
      )}
    </li>
  );
}
