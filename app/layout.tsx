/** The frame of every page: language, theme, header, notices about the source, footer. */
import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Footer } from "../components/page/footer.tsx";
import { Header } from "../components/page/header.tsx";
import { Notice } from "../components/ui/notice.tsx";
import { WordsProvider } from "../components/words/words-provider.tsx";
import { pageContext } from "../lib/services/current.ts";
import packageJson from "../package.json" with { type: "json" };
import "./globals.css";
import { messagesOf, requestPath, requestTheme, requestWords } from "./request-words.ts";

export const dynamic = "force-dynamic";

export async function generateMetadata(): Promise<Metadata> {
  const { t } = await requestWords();
  return {
    title: { default: t("site.title"), template: "%s · Casthouse" },
    description: t("site.description"),
    robots: { index: false },
  };
}

export default async function Layout({ children }: { children: ReactNode }) {
  const [words, path, theme] = [await requestWords(), await requestPath(), await requestTheme()];
  const { releases } = pageContext().services;
  const source = releases.status();
  const sample = (await releases.summaries().catch(() => [])).some((release) => release.sample);
  return (
    <html lang={words.language} data-theme={theme ?? undefined}>
      <body>
        <WordsProvider language={words.language} messages={messagesOf(words.language)}>
          <Header words={words} path={path} theme={theme} unverified={source.verification === "off"} />
          <main
            id="main"
            tabIndex={-1}
            className="mx-auto max-w-[84rem] px-4 pt-6 outline-none lg:px-8 lg:pt-8"
          >
            {source.failure !== null && (
              <div className="mb-6">
                <Notice>{words.t("source.away", { reason: source.failure })}</Notice>
              </div>
            )}
            {children}
          </main>
          <Footer words={words} version={packageJson.version} source={source} sample={sample} />
        </WordsProvider>
      </body>
    </html>
  );
}
