-- Two people who adopt at once must not both win: of one name and range one image is in use.

CREATE UNIQUE INDEX "own_pin_one_adopted" ON "own_pin" ("subject", "name", "talos") WHERE "state" = 'adopted';
