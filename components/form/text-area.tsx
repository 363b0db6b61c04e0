"use client";
/** A text of several lines with its name and what it is for. */

interface Props {
  name: string;
  label: string;
  hint: string;
  value: string;
  placeholder?: string;
  rows?: number;
  /** True: shown, but nothing can be typed. */
  locked?: boolean;
  invalid?: boolean;
  /** False: the browser sends nothing for it. */
  sent?: boolean;
  onChange: (text: string) => void;
}

export function TextArea(props: Props) {
  const { name, label, hint, value, placeholder, rows = 5, locked = false, invalid = false } = props;
  return (
    <div>
      <label htmlFor={name} className="text-sm font-medium">
        {label}
      </label>
      <p id={`${name}-hint`} className="mb-2 text-sm text-soft">
        {hint}
      </p>
      <textarea
        id={name}
        name={props.sent === false ? undefined : name}
        rows={rows}
        className="input block font-mono text-sm read-only:bg-sunken"
        aria-describedby={`${name}-hint ${name}-problem`}
        aria-invalid={invalid}
        value={value}
        placeholder={placeholder}
        readOnly={locked}
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => props.onChange(event.target.value)}
      />
    </div>
  );
}
