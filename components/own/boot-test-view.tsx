/** The last boot test of an image with the console of its machine, and the button for the next. */
import { type BootTest, MAINTENANCE_ONLY } from "../../lib/domain/boot-test.ts";
import type { OwnPinView } from "../../lib/services/own/contracts.ts";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  pin: OwnPinView;
  /** Null when there was none. */
  test: BootTest | null;
  changeable: boolean;
}

function Result({ words, test }: { words: Words; test: BootTest }) {
  const { t, date, duration } = words;
  if (test.state === "queued" || test.state === "running")
    return (
      <p role="status" className="text-sm text-soft">
        {t(`own.boot.${test.state}`)}
      </p>
    );
  const facts = [date(test.finishedAt ?? test.createdAt), ...(test.ms === null ? [] : [duration(test.ms)])];
  return (
    <div className="space-y-2 text-sm">
      <p className={test.state === "failed" ? "text-bad" : "text-good"}>
        {t(`own.boot.${test.state}`, { version: test.version })}
        <span className="text-soft"> · {facts.join(" · ")}</span>
      </p>
      <p className="break-all font-mono text-soft">{test.digest}</p>
      {test.reason === MAINTENANCE_ONLY && <p>{t("own.boot.maintenance")}</p>}
      {test.reason !== null && test.reason !== MAINTENANCE_ONLY && (
        <p className="break-words" lang="en">
          {test.reason}
        </p>
      )}
      {test.log !== "" && (
        <details>
          <summary className="font-semibold">{t("own.boot.log")}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
          <pre className="code mt-2 max-h-96 overflow-auto" lang="en" tabIndex={0}>
            {test.log}
          </pre>
        </details>
      )}
    </div>
  );
}

export function BootTestView({ words, pin, test, changeable }: Props) {
  const { t } = words;
  const open = test !== null && test.finishedAt === null;
  const testable = pin.subject === "extension" && pin.state === "adopted" && pin.platforms.includes("amd64");
  return (
    <>
      {test !== null && <Result words={words} test={test} />}
      {changeable && testable && !open && (
        <form
          method="post"
          action={`/extensions/pins/${pin.id}/boot-test?source=${pin.sourceId}`}
          className="flex flex-wrap items-center gap-3"
        >
          <button type="submit" className="button">
            {t("own.boot")}
          </button>
          <span className="text-sm text-soft">{t("own.boot.hint")}</span>
        </form>
      )}
    </>
  );
}
