/** A source in a registry: one image, or a catalog of many. Works without scripts. */
import type { Words } from "../words/translator.ts";

interface FieldProps {
  label: string;
  name: string;
  hint?: string;
  placeholder?: string;
  required?: boolean;
}

function Field({ label, name, hint, placeholder, required = false }: FieldProps) {
  return (
    <label className="block">
      <span className="mb-1 block font-medium">{label}</span>
      <input
        name={name}
        required={required}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        className="input font-mono text-sm"
      />
      {hint !== undefined && <span className="mt-1 block text-sm text-soft">{hint}</span>}
    </label>
  );
}

function Trust({ words }: { words: Words }) {
  const { t } = words;
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1 font-medium">{t("own.trust")}</legend>
      <label className="flex items-start gap-2">
        <input type="radio" name="trust" value="key" className="mt-1" />
        <span>{t("own.trust.key")}</span>
      </label>
      <label className="block pl-6">
        <span className="sr-only">{t("own.trust.pem")}</span>
        <textarea
          name="pem"
          rows={3}
          spellCheck={false}
          placeholder="-----BEGIN PUBLIC KEY-----"
          className="input font-mono text-xs"
        />
      </label>
      <label className="flex items-start gap-2">
        <input type="radio" name="trust" value="digest" className="mt-1" />
        <span>{t("own.trust.digest")}</span>
      </label>
      <label className="block pl-6">
        <span className="sr-only">{t("own.trust.digest")}</span>
        <input name="digest" spellCheck={false} placeholder="sha256:…" className="input font-mono text-xs" />
      </label>
      <label className="flex items-start gap-2">
        <input type="radio" name="trust" value="off" defaultChecked className="mt-1" />
        <span>
          {t("own.trust.none")} <span className="text-soft">{t("own.trust.none.hint")}</span>
        </span>
      </label>
    </fieldset>
  );
}

/** `override`: official names may be replaced here. */
export function AddSourceForm({ words, override }: { words: Words; override: boolean }) {
  const { t } = words;
  return (
    <form method="post" action="/extensions/add" className="mt-4 max-w-2xl space-y-5">
      <fieldset className="grid gap-2 sm:grid-cols-2">
        <legend className="mb-1 font-medium">{t("own.what")}</legend>
        {(["image", "catalog"] as const).map((kind) => (
          <label key={kind} className="choice">
            <input type="radio" name="kind" value={kind} defaultChecked={kind === "image"} />
            <span>
              {t(`own.kind.${kind}`)}
              <span className="block text-sm text-soft">{t(`own.kind.${kind}.hint`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Field
        label={t("own.reference")}
        name="reference"
        placeholder="registry.example.com/team/daemon:v1"
        required
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label={t("own.namespace")} name="namespace" placeholder="team" required />
        <Field label={t("own.name")} name="name" placeholder="daemon" hint={t("own.name.hint")} />
      </div>
      <label className="block max-w-xs">
        <span className="mb-1 block font-medium">{t("own.subject")}</span>
        <select name="subject" className="input">
          <option value="extension">{t("own.extension")}</option>
          <option value="overlay">{t("own.overlay")}</option>
        </select>
      </label>
      <Trust words={words} />
      {override && (
        <label className="flex items-start gap-2">
          <input type="checkbox" name="override" value="1" className="mt-1" />
          <span>
            {t("own.override")} <span className="text-soft">{t("own.override.hint")}</span>
          </span>
        </label>
      )}
      <button type="submit" className="button button-primary">
        {t("own.add")}
      </button>
    </form>
  );
}
