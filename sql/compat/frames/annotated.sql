-- get_gpu_kernels_with_user_annotations: the annotation of each GPU activity.
--
-- $rank: the rank.
SELECT event_id AS index, annotation
FROM annotated_kernels_v1(only_ranks := [$rank])
ORDER BY event_id
