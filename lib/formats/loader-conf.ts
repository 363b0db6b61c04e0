/** loader/loader.conf, the settings file systemd-boot reads from the EFI system partition. */

/**
 * Text of loader.conf. `enroll` is the value of secure-boot-enroll (systemd loader.conf(5)); null leaves the
 * line out. Disk images name it only when keys are enrolled, ISOs always.
 */
export function loaderConf(enroll: string | null): string {
  const head = "# systemd-boot configuration\n\ntimeout 10\n";
  return enroll === null ? head : `${head}\nsecure-boot-enroll ${enroll}\n`;
}
