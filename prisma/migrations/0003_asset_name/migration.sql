-- Under which names the files of a schematic were served: an asset is shared by schematics and knows no names.

CREATE TABLE "asset_name" (
  "schematic_id" CHAR(64) NOT NULL,
  "version" TEXT NOT NULL,
  "path" TEXT NOT NULL,
  CONSTRAINT "asset_name_pkey" PRIMARY KEY ("schematic_id", "version", "path")
);
