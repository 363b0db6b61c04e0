/** Top of the result page: what this is, its ID, and what else can be done with it. */
import { Badge } from "../ui/badge.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { IdPattern } from "../ui/id-mark.tsx";
import type { Words } from "../words/translator.ts";
import { QrCode } from "./qr-code.tsx";

interface Props {
  words: Words;
  id: string;
  /** With "v". */
  version: string;
  machine: string;
  arch: string;
  secureboot: boolean;
  sample: boolean;
  /** Extensions and kernel arguments in the order of the schematic. */
  inside: readonly string[];
  /** Where to go from here: the form, a comparison, an upgrade. */
  links: { href: string; label: string }[];
  /** Whole address of this page, for the code on paper. */
  address: string;
}

export function ResultHead(props: Props) {
  const { words, id, version, machine, arch, secureboot, sample, inside, links, address } = props;
  const { t } = words;
  return (
    <header className="flex items-start justify-between gap-6">
      <div className="min-w-0 flex-1 space-y-4 print:space-y-2">
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
          <div className="no-print flex flex-wrap gap-2">
            {links.map(({ href, label }) => (
              <a key={href} href={href} className="button button-small">
                {label}
              </a>
            ))}
          </div>
        </div>
        <div className="flex items-center gap-3">
          <IdPattern id={id} className="size-8" />
          <p className="min-w-0">
            <span className="eyebrow block">{t("result.id")}</span>
            <span className="break-all font-mono text-sm">{id}</span>
          </p>
          <CopyButton text={id} what={t("id")} />
        </div>
        {inside.length > 0 && (
          <p className="text-sm">
            <span className="eyebrow block">{t("result.inside")}</span>
            <span className="break-words">{inside.join(", ")}</span>
          </p>
        )}
      </div>
      <QrCode text={address} label={t("result.qr.page")} className="hidden size-36 shrink-0 print:block" />
    </header>
  );
}
