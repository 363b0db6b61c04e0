"use client";
/** Gives the words of the page's language to every part that runs in the browser. */
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { createWords, type Language, type Messages, type Words } from "./translator.ts";

const Context = createContext<Words | null>(null);

interface Props {
  language: Language;
  messages: Messages;
  children: ReactNode;
}

export function WordsProvider({ language, messages, children }: Props) {
  const words = useMemo(() => createWords(language, messages), [language, messages]);
  return <Context value={words}>{children}</Context>;
}

/** The words of the page; throws outside of the layout, which provides them. */
export function useWords(): Words {
  const words = useContext(Context);
  if (words === null) throw new Error("useWords needs the WordsProvider of the layout");
  return words;
}
