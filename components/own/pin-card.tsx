/** One image of a source: what it is, what its checks found, and what can be done with it. */

import type { BootTest } from "../../lib/domain/boot-test.ts";
import type { OwnPinView } from "../../lib/services/own/contracts.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { CodeLine } from "../ui/code-line.tsx";
import type { Words } from "../words/translator.ts";
import { BootTestView } from "./boot-test-view.tsx";
import { ReportView } from "./report-view.tsx";
import { ServiceHelp } from "./service-help.tsx";

interface Props {
  words: Words;
  pin: OwnPinView;
  /** Host that references begin with. */
  host: string;
  changeable: boolean;
  /** The last boot test; null when there was none. */
  test: BootTest | null;
}

const TONES: Record<OwnPinView["state"], Tone> = { adopted: "good", offered: "accent", retired: "plain" };

function Actions({ words, pin }: Pick<Props, "words" | "pin">) {
  const { t } = words;
  const query = `source=${pin.sourceId}`;
  return (
    <div className="flex flex-wrap items-end gap-3 border-t border-line pt-4">
      <form
        method="post"
        action={`/extensions/pins/${pin.id}/adopt?${query}`}
        className="flex flex-wrap items-end gap-3"
      >
        <label>
          <span className="mb-1 block text-sm font-medium">{t("own.talos")}</span>
          <input
            name="talos"
            defaultValue={pin.talos}
            placeholder={t("own.talos.all")}
            spellCheck={false}
            className="input max-w-56 font-mono text-sm"
          />
        </label>
        {pin.warnings > 0 && !pin.accepted && (
          <label className="flex min-h-10 items-center gap-2 text-sm">
            <input type="checkbox" name="accept-warnings" value="1" required />
            {t("own.accept")}
          </label>
        )}
        <button type="submit" className={`button ${pin.state === "offered" ? "button-primary" : ""}`}>
          {t(pin.state === "adopted" ? "own.change" : "own.adopt")}
        </button>
      </form>
      {pin.state !== "retired" && (
        <form method="post" action={`/extensions/pins/${pin.id}/retire?${query}`}>
          <button type="submit" className="button">
            {t("own.retire")}
          </button>
        </form>
      )}
    </div>
  );
}

export function PinCard({ words, pin, host, changeable, test }: Props) {
  const { t, date } = words;
  const services = pin.reports[0]?.services ?? [];
  return (
    <article aria-label={`${pin.name} ${pin.tag}`} className="space-y-4 border-t border-line py-6">
      <header className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <h2 className="break-all font-mono font-semibold">
          {pin.name} <span className="font-normal">{pin.tag}</span>
        </h2>
        <Badge tone={TONES[pin.state]}>{t(`own.state.${pin.state}`)}</Badge>
        {test?.state === "passed" && test.digest === pin.digest && (
          <Badge tone="good">{t("own.boot.tested")}</Badge>
        )}
        {pin.state === "adopted" && (
          <span className="text-sm text-soft">
            {pin.talos === "" ? t("own.talos.all") : pin.talos}
            {pin.adoptedAt !== null && ` · ${date(pin.adoptedAt)}`}
          </span>
        )}
      </header>
      {pin.description !== "" && (
        <p className="max-w-prose" lang="en">
          {pin.description}
        </p>
      )}
      <ReportView words={words} reports={pin.reports} />
      {pin.adoptedAt !== null && (
        <CodeLine caption={t("own.image")} text={`${host}/${pin.repository}:${pin.tag}@${pin.digest}`} />
      )}
      <ServiceHelp words={words} services={services} />
      <BootTestView words={words} pin={pin} test={test} changeable={changeable} />
      {changeable && <Actions words={words} pin={pin} />}
    </article>
  );
}
