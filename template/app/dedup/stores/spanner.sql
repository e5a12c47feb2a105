-- The tables of the Spanner store (GoogleSQL). `python -m app.records init` makes them, and
-- `gcloud spanner databases ddl update --ddl-file` takes this file as it is.
--
-- To change a record by hand, tell the service, in the same transaction, that it was written:
--   UPDATE scheduler_runs SET written_at = PENDING_COMMIT_TIMESTAMP(), ... WHERE run_id = '...'
--   DELETE FROM scheduler_runs_version WHERE run_id = '...'
-- Rows that are inserted or deleted by hand need nothing more.

-- One row for each run. Nothing but the key is required, so that what a person writes can be read.
CREATE TABLE IF NOT EXISTS `scheduler_runs` (
  run_id STRING(64) NOT NULL,
  status STRING(MAX),
  attempt_id STRING(MAX),
  lease_seconds FLOAT64,
  lease_expires TIMESTAMP,
  expire_at TIMESTAMP,
  job_name STRING(MAX),
  schedule_time TIMESTAMP,
  project STRING(MAX),
  location STRING(MAX),
  forced BOOL,
  claimed_at TIMESTAMP,
  finished_at TIMESTAMP,
  result STRING(MAX),
  payload_sha256 STRING(MAX),
  added_at TIMESTAMP DEFAULT (CURRENT_TIMESTAMP()),
  written_at TIMESTAMP OPTIONS (allow_commit_timestamp = true)
) PRIMARY KEY (run_id),
  ROW DELETION POLICY (OLDER_THAN(expire_at, INTERVAL 0 DAY));

-- The version that each write of a run leaves behind and the next one asks for.
CREATE TABLE IF NOT EXISTS `scheduler_runs_version` (
  run_id STRING(64) NOT NULL,
  version STRING(32) NOT NULL
) PRIMARY KEY (run_id, version),
  INTERLEAVE IN PARENT `scheduler_runs` ON DELETE CASCADE;
