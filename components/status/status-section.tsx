/** A titled part of the status page, and the figures in it. */
import type { ReactNode } from "react";

export function StatusSection({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section aria-labelledby={id} className="border-t border-line pt-6">
      <h2 id={id} className="mb-4 text-lg font-semibold">
        {title}
      </h2>
      {children}
    </section>
  );
}

/** Figures side by side; two by two where there is little room. */
export const FIGURES = "grid grid-cols-2 gap-x-6 gap-y-4 sm:flex sm:flex-wrap sm:gap-x-12";

/** A number with its word below it, as part of a description list. */
export function Figure({ label, value, href }: { label: string; value: string; href?: string }) {
  return (
    <div className="flex flex-col-reverse">
      <dt className="text-sm text-soft">{label}</dt>
      <dd className="text-lg font-semibold">
        {href ? (
          <a href={href} className="hover:underline">
            {value}
          </a>
        ) : (
          value
        )}
      </dd>
    </div>
  );
}

/** Rows of name, amount and a bar for comparing them. */
export function Bars({ rows }: { rows: { name: string; text: string; share: number }[] }) {
  return (
    <dl className="max-w-xl space-y-2 text-sm">
      {rows.map(({ name, text, share }) => (
        <div
          key={name}
          className="grid grid-cols-[8rem_1fr] items-center gap-x-4 sm:grid-cols-[10rem_12rem_1fr]"
        >
          <dt>{name}</dt>
          <dd className="text-soft max-sm:text-right">{text}</dd>
          <dd aria-hidden="true" className="max-sm:col-span-2">
            <span
              className="block h-[3px] rounded-full bg-accent/60"
              style={{ width: `${Math.max(1, share * 100)}%` }}
            />
          </dd>
        </div>
      ))}
    </dl>
  );
}
