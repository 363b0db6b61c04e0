"use client";
/** A yes or no with what it means. */

interface Props {
  name: string;
  label: string;
  hint: string;
  checked: boolean;
  disabled?: boolean;
  describedBy?: string;
  onChange: (checked: boolean) => void;
}

export function CheckBox({ name, label, hint, checked, disabled = false, describedBy, onChange }: Props) {
  return (
    <label className="flex items-start gap-2.5 text-sm">
      <input
        type="checkbox"
        name={name}
        value="true"
        className="mt-0.5"
        checked={checked}
        disabled={disabled}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        <span className="font-medium">{label}</span>
        <span className="ml-2 text-soft">{hint}</span>
      </span>
    </label>
  );
}
