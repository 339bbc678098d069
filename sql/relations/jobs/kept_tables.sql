-- Views with the former names of tables of stored results. The SQL of users may still use these
-- names.
--
-- reads: stored_job_kernels, stored_job_ranks, stored_job_summary, stored_results
CREATE OR REPLACE VIEW kept_results AS
FROM stored_results;

CREATE OR REPLACE VIEW kept_job_summary AS
FROM stored_job_summary;

CREATE OR REPLACE VIEW kept_job_ranks AS
FROM stored_job_ranks;

CREATE OR REPLACE VIEW kept_job_kernels AS
FROM stored_job_kernels;
