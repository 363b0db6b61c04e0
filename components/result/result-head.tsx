/** Top of the result page: what this is, its ID, and the way to change it. */
import { Badge } from "../ui/badge.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { IdPattern } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  id: string;
  /** With "v". */
  version: string;
  machine: string;
  arch: string;
  secureboot: boolean;
  sample: boolean;
  /** Address of the form filled in with this choice; null when the form cannot say all of it. */
  editHref: string | null;
}

export function ResultHead({ words, id, version, machine, arch, secureboot, sample, editHref }: Props) {
  const { t } = words;
  return (
    <header className="space-y-4">
      <div className="flex flex-wrap items-start justify-between gap-4">
        <div className="space-y-1">
          <h1 className="text-xl font-semibold tracking-tight text-balance">
            {t("result.title", { version, machine })}
          </h1>
          <p className="flex flex-wrap items-center gap-2 text-soft">
            {arch}
            {secureboot && <span>· SecureBoot</span>}
            {sample && <Badge tone="warn">{t("sample.long")}</Badge>}
          </p>
        </div>
        {editHref !== null && (
          <a href={editHref} className="button no-print">
            {t("result.change")}
          </a>
        )}
      </div>
      <div className="flex items-center gap-3">
        <IdPattern id={id} className="size-8" />
        <p className="min-w-0">
          <span className="eyebrow block">{t("result.id")}</span>
          <span className="break-all font-mono text-sm">{id}</span>
        </p>
        <CopyButton text={id} what={t("id")} />
      </div>
    </header>
  );
}
