/** Why the last change was not made, as the address of the page tells it. */
import { Notice } from "../ui/notice.tsx";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  query: URLSearchParams;
  /** What the factory said, in English. */
  refusal: string | null;
  /** The sign-in of this browser has run out. */
  expired: boolean;
}

function wordsOf(problem: string): "own.problem.token" | "own.problem.expired" | "own.problem.sign-in" {
  if (problem === "token") return "own.problem.token";
  return problem === "expired" ? "own.problem.expired" : "own.problem.sign-in";
}

export function ProblemNotice({ words, query, refusal, expired }: Props) {
  const { t } = words;
  const problem = query.get("problem") ?? (expired ? "expired" : null);
  if (problem === null) return null;
  return (
    <div role="alert">
      <Notice tone="bad">
        {problem === "refused" && refusal !== null ? (
          <span className="break-words" lang="en">
            {refusal}
          </span>
        ) : (
          t(wordsOf(problem))
        )}
      </Notice>
    </div>
  );
}
