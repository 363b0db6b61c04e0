/** Top of every page: mark, the places to go, language and theme. */
import { Logo } from "../ui/logo.tsx";
import type { Words } from "../words/translator.ts";
import { LanguageSwitch } from "./language-switch.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

/** Phones have room for four places: this one is in the footer as well. */
const OWN = "/extensions";

interface Props {
  words: Words;
  /** Path and query that the language switch returns to. */
  path: string;
  theme: "light" | "dark" | null;
  /** True when the signatures of the source are not checked. */
  unverified: boolean;
}

/** Where one can go; the place where one is stands out. */
function Places({ words, path }: Pick<Props, "words" | "path">) {
  const { t } = words;
  const place = path.split("?", 1)[0] ?? "/";
  const links = [
    { href: "/", label: t("nav.new"), here: place === "/" },
    { href: "/catalog", label: t("nav.catalog"), here: /^\/(catalog|compare|upgrade)/.test(place) },
    { href: OWN, label: t("nav.own"), here: place.startsWith(OWN) },
    { href: "/presets", label: t("nav.presets"), here: place.startsWith("/presets") },
    { href: "/builds", label: t("nav.builds"), here: place.startsWith("/builds") },
  ];
  return (
    <nav
      aria-label={t("nav.label")}
      className="order-last flex w-full flex-wrap gap-x-3 text-xs sm:order-none sm:w-auto sm:gap-x-5 sm:text-sm"
    >
      {links.map(({ href, label, here }) => (
        <a
          key={href}
          href={href}
          aria-current={here ? "page" : undefined}
          className={`py-1.5 sm:py-1 ${href === OWN ? "max-sm:hidden" : ""} ${here ? "font-semibold text-ink shadow-[inset_0_-2px] shadow-accent" : "text-soft hover:text-ink"}`}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

export function Header({ words, path, theme, unverified }: Props) {
  const { t } = words;
  return (
    <header className="no-print border-b border-line">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:left-2 focus:top-2 focus:z-30 focus:bg-raised focus:p-2"
      >
        {t("nav.skip")}
      </a>
      <div className="mx-auto flex max-w-[84rem] flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3 lg:px-8">
        <a href="/" className="flex items-center gap-2.5 font-semibold tracking-tight">
          <Logo className="size-6 text-accent" />
          Casthouse
        </a>
        <Places words={words} path={path} />
        <div className="ml-auto flex items-center gap-2">
          <LanguageSwitch back={path} />
          <ThemeSwitch theme={theme} back={path} />
        </div>
      </div>
      {unverified && (
        <div className="border-t border-line bg-warn-wash">
          <p className="mx-auto max-w-[84rem] px-4 py-1.5 text-xs text-warn sm:text-sm lg:px-8">
            {t("source.unverified")}
          </p>
        </div>
      )}
    </header>
  );
}
