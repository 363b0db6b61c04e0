/** A page for what is not there: what, why, and the ways on. */

interface Props {
  title: string;
  text: string;
  /** The name that was asked for. */
  detail?: string;
  links: { href: string; label: string }[];
}

export function Missing({ title, text, detail, links }: Props) {
  return (
    <div className="max-w-prose space-y-4 py-8">
      <h1 className="text-xl font-semibold tracking-tight text-balance">{title}</h1>
      {detail && <p className="code break-all">{detail}</p>}
      <p className="text-soft">{text}</p>
      <p className="flex flex-wrap gap-2">
        {links.map(({ href, label }, index) => (
          <a key={href} href={href} className={`button ${index === 0 ? "button-primary" : ""}`}>
            {label}
          </a>
        ))}
      </p>
    </div>
  );
}
