/** One operation of the API: what it does, what it takes, what it answers, how to try it. */
import { CodeLine } from "../ui/code-line.tsx";
import type { Words } from "../words/translator.ts";

/** The part of an operation that is shown. */
export interface ShownOperation {
  method: string;
  path: string;
  anchor: string;
  summary: string;
  description: string;
  parameters: {
    name: string;
    in: "path" | "query" | "header";
    required: boolean;
    schema?: { enum?: string[] | undefined } | undefined;
  }[];
  responses: Record<string, { description: string }>;
}

interface Props {
  words: Words;
  operation: ShownOperation;
  curl: string;
}

export function OperationEntry({ words, operation, curl }: Props) {
  const { t } = words;
  const { anchor, method, path, summary, description, parameters, responses } = operation;
  return (
    <article id={anchor} className="scroll-mt-4 space-y-3 border-t border-line py-5 first-of-type:mt-3">
      <h3 className="break-all font-mono text-sm font-semibold">
        <span className="text-accent">{method.toUpperCase()}</span> {path}
      </h3>
      <div lang="en">
        <p>{summary}</p>
        {description && <p className="mt-1 text-sm text-soft">{description}</p>}
      </div>
      {parameters.length > 0 && (
        <dl className="text-sm">
          <dt className="eyebrow">{t("api.parameters")}</dt>
          {parameters.map((parameter) => (
            <dd key={`${parameter.in}-${parameter.name}`}>
              <code>{parameter.name}</code>{" "}
              <span className="text-soft">
                {t(`api.in.${parameter.in}`)}
                {parameter.required && `, ${t("api.required")}`}
                {parameter.schema?.enum && `${t("before", { name: "" })} ${parameter.schema.enum.join(", ")}`}
              </span>
            </dd>
          ))}
        </dl>
      )}
      <dl className="text-sm">
        <dt className="eyebrow">{t("api.replies")}</dt>
        {Object.entries(responses).map(([status, reply]) => (
          <dd key={status}>
            <code>{status}</code>{" "}
            <span className="text-soft" lang="en">
              {reply.description}
            </span>
          </dd>
        ))}
      </dl>
      <CodeLine caption="curl" text={curl} />
    </article>
  );
}
