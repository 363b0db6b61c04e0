"use client";
/** The log of a build, folded: follow, copy, download. */
import { useEffect, useRef, useState } from "react";
import { CopyButton } from "../ui/copy-button.tsx";
import { useWords } from "../words/words-provider.tsx";

export function BuildLog({ lines, name, running }: { lines: string[]; name: string; running: boolean }) {
  const { t, plural } = useWords();
  const [follow, setFollow] = useState(true);
  const box = useRef<HTMLPreElement>(null);
  const count = lines.length;
  useEffect(() => {
    if (follow && count > 0 && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, count]);
  const text = lines.join("\n");
  return (
    <details className="border-t border-line pt-6">
      <summary className="font-semibold">
        {t("log.title")} <span className="font-normal text-soft">{plural("log.lines", count)}</span>
      </summary>
      <div className="needs-script mt-3 space-y-2">
        <div className="flex flex-wrap items-center gap-2">
          {running && (
            <label className="flex items-center gap-2 pr-2 text-sm">
              <input type="checkbox" checked={follow} onChange={(event) => setFollow(event.target.checked)} />
              {t("log.follow")}
            </label>
          )}
          <CopyButton text={text} what={t("log.title")} />
          <button type="button" className="button button-small" onClick={() => download(`${name}.log`, text)}>
            {t("file.download")}
          </button>
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
        <pre ref={box} tabIndex={0} lang="en" className="code max-h-96 overflow-auto">
          {text || t("log.empty")}
        </pre>
      </div>
    </details>
  );
}

function download(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text, "\n"], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
