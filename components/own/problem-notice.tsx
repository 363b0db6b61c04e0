/** Why the last change was not made, as the address of the page tells it. */
import { Notice } from "../ui/notice.tsx";
import type { Words } from "../words/translator.ts";

interface Props {
  words: Words;
  query: URLSearchParams;
  /** What the factory said, in English. */
  refusal: string | null;
}

export function ProblemNotice({ words, query, refusal }: Props) {
  const { t } = words;
  const problem = query.get("problem");
  if (problem === null) return null;
  return (
    <div role="alert">
      <Notice tone="bad">
        {problem === "refused" && refusal !== null ? (
          <span className="break-words" lang="en">
            {refusal}
          </span>
        ) : (
          t(problem === "token" ? "own.problem.token" : "own.problem.sign-in")
        )}
      </Notice>
    </div>
  );
}
