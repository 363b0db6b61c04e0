import type { NextConfig } from "next";

/** Pages only: machine routes live in api/ and are answered before Next sees them. */
const config: NextConfig = {
  poweredByHeader: false,
  skipTrailingSlashRedirect: true,
  reactStrictMode: true,
  compress: true,
  devIndicators: false,
  serverExternalPackages: ["@prisma/client", "@prisma/adapter-pg", "pg", "bullmq", "ioredis", "pino"],
  typescript: { ignoreBuildErrors: false },
};

export default config;
