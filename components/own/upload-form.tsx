"use client";
/** Sends an extension archive with progress; without scripts the command line beside it does the same. */
import { type FormEvent, useState } from "react";
import { useWords } from "../words/words-provider.tsx";

type Sending =
  | { state: "idle" }
  | { state: "sending"; percent: number }
  | { state: "checking" }
  | { state: "refused"; message: string; hint: string };

interface Answer {
  href?: string;
  message?: string;
  hint?: string;
}

function parseAnswer(text: string): Answer {
  try {
    const answer: Answer = JSON.parse(text);
    return answer;
  } catch {
    return {};
  }
}

/** XMLHttpRequest, because fetch does not tell how much was sent. */
function send(url: string, file: File, tell: (sending: Sending) => void, failed: string): void {
  const request = new XMLHttpRequest();
  request.open("PUT", url);
  request.upload.onprogress = ({ loaded, total }) =>
    tell(
      loaded < total
        ? { state: "sending", percent: Math.floor((100 * loaded) / total) }
        : { state: "checking" },
    );
  request.onload = () => {
    const { href, message = failed, hint = "" } = parseAnswer(request.responseText);
    if (request.status < 300 && href !== undefined) location.assign(href);
    else tell({ state: "refused", message, hint });
  };
  request.onerror = () => tell({ state: "refused", message: failed, hint: "" });
  tell({ state: "sending", percent: 0 });
  request.send(file);
}

/** The address that takes the archive of a form's fields. */
function uploadAddress(fields: FormData): string {
  const text = (name: string) => encodeURIComponent(String(fields.get(name) ?? "").trim());
  const query = `talos=${text("talos")}${fields.get("override") ? "&override=1" : ""}`;
  return `/extensions/upload/${text("namespace")}/${text("name")}?${query}`;
}

interface Override {
  /** Official names may be replaced here. */
  override: boolean;
}

/** The archive, what it is called, and what it is for. */
function Fields({ override }: Override) {
  const { t } = useWords();
  const field = "input font-mono text-sm";
  return (
    <>
      <label className="block">
        <span className="mb-1 block font-medium">{t("own.file")}</span>
        <input type="file" name="file" required accept=".tar,.gz,.tgz,.zst" className="input py-1.5" />
        <span className="mt-1 block text-sm text-soft">{t("own.file.hint")}</span>
      </label>
      <div className="grid gap-4 sm:grid-cols-3">
        <label>
          <span className="mb-1 block font-medium">{t("own.namespace")}</span>
          <input name="namespace" required placeholder="team" spellCheck={false} className={field} />
        </label>
        <label>
          <span className="mb-1 block font-medium">{t("own.name")}</span>
          <input name="name" required placeholder="daemon" spellCheck={false} className={field} />
        </label>
        <label>
          <span className="mb-1 block font-medium">{t("own.talos")}</span>
          <input name="talos" placeholder=">=1.12.0" spellCheck={false} className={field} />
        </label>
      </div>
      {override && (
        <label className="flex items-start gap-2 text-sm">
          <input type="checkbox" name="override" value="1" className="mt-0.5" />
          <span>{t("own.override")}</span>
        </label>
      )}
    </>
  );
}

export function UploadForm({ override }: Override) {
  const { t } = useWords();
  const [sending, setSending] = useState<Sending>({ state: "idle" });
  const busy = sending.state === "sending" || sending.state === "checking";
  function onSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const file = fields.get("file");
    if (file instanceof File) send(uploadAddress(fields), file, setSending, t("own.upload.failed"));
  }
  return (
    <form onSubmit={onSubmit} className="needs-script max-w-2xl space-y-4">
      <Fields override={override} />
      <div className="flex flex-wrap items-center gap-4">
        <button type="submit" className="button button-primary" disabled={busy}>
          {t("own.upload.do")}
        </button>
        <span aria-live="polite" className="text-sm text-soft">
          {sending.state === "sending" && t("own.upload.sent", { percent: sending.percent })}
          {sending.state === "checking" && t("own.upload.checking")}
        </span>
      </div>
      {sending.state === "refused" && (
        <div role="alert" className="border-l-2 border-bad bg-bad-wash px-3 py-2 text-sm" lang="en">
          <p className="break-words">{sending.message}</p>
          {sending.hint !== "" && <p className="mt-1 break-words">{sending.hint}</p>}
        </div>
      )}
    </form>
  );
}
