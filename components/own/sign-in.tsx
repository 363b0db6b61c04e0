/** The administrator's token, typed once for this browser, and the way to have it forgotten. */
import type { Words } from "../words/translator.ts";

export function SignIn({ words }: { words: Words }) {
  const { t } = words;
  return (
    <form method="post" action="/extensions/sign-in" className="max-w-md space-y-3 border-t border-line pt-6">
      <label className="block">
        <span className="mb-1 block font-medium">{t("own.token")}</span>
        <input type="password" name="token" required autoComplete="current-password" className="input" />
        <span className="mt-1 block text-sm text-soft">{t("own.token.hint")}</span>
      </label>
      <button type="submit" className="button">
        {t("own.sign-in")}
      </button>
    </form>
  );
}

export function SignOut({ words }: { words: Words }) {
  return (
    <form method="post" action="/extensions/sign-out" className="border-t border-line pt-6">
      <button type="submit" className="button">
        {words.t("own.sign-out")}
      </button>
    </form>
  );
}
