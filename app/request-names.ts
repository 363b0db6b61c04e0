/** Names of the cookies and internal headers that carry language, theme and path. */
export const LANGUAGE_COOKIE = "lang";
export const THEME_COOKIE = "theme";
/** Set by the proxy on the way in; whatever a client sends under these names is replaced. */
export const LANGUAGE_HEADER = "x-page-language";
export const PATH_HEADER = "x-page-path";
export const ONE_YEAR_SECONDS = 365 * 24 * 60 * 60;
