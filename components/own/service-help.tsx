/** For each service of an extension: the document that sets it up, and the command that adds it to a node. */
import {
  applyServiceConfig,
  type ConfigurableService,
  extensionServiceConfig,
} from "../../lib/domain/extension-service-config.ts";
import { CodeLine } from "../ui/code-line.tsx";
import type { Words } from "../words/translator.ts";

export function ServiceHelp({ words, services }: { words: Words; services: readonly ConfigurableService[] }) {
  const { t } = words;
  if (services.length === 0) return null;
  return (
    <details>
      <summary className="font-semibold">{t("own.service")}</summary>
      <div className="mt-3 space-y-6">
        <p className="text-sm text-soft">{t("own.service.hint")}</p>
        {services.map((service) => (
          <div key={service.name} className="space-y-3">
            <CodeLine caption={`${service.name}.yaml`} text={extensionServiceConfig(service)} block />
            <CodeLine caption={t("own.service.apply")} text={applyServiceConfig(service.name)} />
          </div>
        ))}
      </div>
    </details>
  );
}
