"""What one rank does in a step of the training, between two collectives."""

from itertools import cycle, islice

from hta_sql.demo.operators import Differentiable, annotation, python
from hta_sql.demo.process import COMPUTE_STREAM, COPY_STREAM, Rank
from hta_sql.demo.recipe import ADAMW, Extra, Recipe
from hta_sql.demo.records import AUTOGRAD, MAIN, Clock
from hta_sql.demo.workload import (
    EMBED,
    GRADIENT_NORM,
    ITEM,
    LABELS,
    LOSS,
    OFFLOAD,
    PROJECT,
    ZERO_GRADIENTS,
)

FETCH = annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
OPTIMIZER_STEP = annotation("Optimizer.step#AdamW.step")
OPTIMIZER_ZERO = annotation("Optimizer.zero_grad#AdamW.zero_grad")
# A name with quotes, braces and a comma, to test readers that split JSON without parsing it.
LOSS_NOTE = annotation('## loss {"reduction": "mean"}, {"scale": 1.0} ##')
TRAIN_STEP, BACKWARD, CLIP = (
    python("train.py(57): train_step"),
    python("torch/_tensor.py(570): backward"),
    python("torch/nn/utils/clip_grad.py(180): clip_grad_norm_", GRADIENT_NORM),
)
STEM = python("nn.Module: Embedding_0"), python("nn.Module: Linear_0")
RECOMPUTE = (
    python("torch/utils/checkpoint.py(1112): unpack_hook"),
    python("torch/utils/checkpoint.py(1546): recompute_fn"),
)
FRAMES = (
    "torch/nn/modules/module.py(1769): _wrapped_call_impl",
    "torch/nn/modules/module.py(1780): _call_impl",
    "model.py(214): forward",
    "torch/utils/_contextlib.py(116): decorate_context",
    "<built-in method __enter__ of autocast>",
    "torch/nn/functional.py(2916): layer_norm",
    "<built-in method type of type object>",
    "torch/_jit_internal.py(102): is_scripting",
)


class Trainer(Rank):
    """A rank that trains the model. The plan calls its methods in the order of a step."""

    def __init__(
        self,
        number: int,
        seed: int,
        clock: Clock,
        recipe: Recipe,
        python_frames: int,
        streams: tuple[int, int],
    ):
        super().__init__(number, seed, clock, recipe)
        layers = range(len(recipe.layers))
        self.modules = [python(f"nn.Module: TransformerBlock_{layer}") for layer in layers]
        # Each operator of a layer is called through them.
        self.frames = [python(name) for name in islice(cycle(FRAMES), python_frames)]
        self.world_stream, self.shard_stream = streams
        # When this step's inputs are on the device.
        self.inputs_end = 0

    def begin(self, number: int) -> None:
        recipe = self.recipe
        self.hold_ns = recipe.hold_ns + (0 if number else recipe.first_hold_ns)
        self.open(annotation(f"ProfilerStep#{number}"))
        self.open(TRAIN_STEP)
        self.open(FETCH)
        # Nothing is launched here. The GPU is busy with the last optimizer.
        self.now += self.draw(*recipe.fetch_ns)
        self.close()
        # The inputs follow the last step on the compute stream, and the rest of this step follows
        # the inputs. So activities of different steps never overlap.
        for op in recipe.inputs:
            self.run(op)
        self.free[COPY_STREAM] = self.inputs_end = self.free[COMPUTE_STREAM]
        self.run(LABELS, COPY_STREAM)
        self.open(OPTIMIZER_ZERO)
        self.run(ZERO_GRADIENTS)
        self.close()
        self.wait_for(COPY_STREAM)

    def stem(self) -> None:
        for module, pair in zip(STEM, (EMBED, PROJECT), strict=True):
            self.open(module)
            self.forward(pair)
            self.close()

    def _add(self, extras: list[Extra], number: int) -> None:
        for extra in extras:
            if extra.in_step(number):
                with self.apart(extra.rule):
                    self.run(extra.op)

    def wait_for_shards(self) -> None:
        self.wait_for(self.shard_stream)

    def layer_forward(self, layer: int) -> None:
        self.open(self.modules[layer])
        for part in self.recipe.layers[layer]:
            for frame in self.frames:
                self.open(frame)
            if type(part) is Differentiable:
                self.forward(part)
            else:
                self.run(part)
            for _ in self.frames:
                self.close()
        if layer == 0:
            # It begins after this layer, and so overlaps what follows.
            self.free[COPY_STREAM] = max(self.free[COPY_STREAM], self.free[COMPUTE_STREAM])
            self.run(OFFLOAD, COPY_STREAM)
        self.close()

    def use_experts(self) -> None:
        self.run(self.recipe.experts)

    def loss(self, number: int) -> None:
        self._add(self.recipe.before_loss, number)
        self.open(LOSS_NOTE)
        self.forward(LOSS)
        self.close()
        self.open(BACKWARD)
        self.switch_to(AUTOGRAD)
        self.backward()

    def layer_backward(self, layer: int) -> None:
        pairs = [part for part in self.recipe.layers[layer] if type(part) is Differentiable]
        if layer in self.recipe.recomputed:
            for frame in RECOMPUTE:
                self.open(frame)
            for pair in pairs:
                self.recompute(pair)
            for _ in RECOMPUTE:
                self.close()
        for _ in pairs:
            self.backward()

    def stem_backward(self) -> None:
        for _ in STEM:
            self.backward()

    def finish(self, number: int) -> None:
        self.switch_to(MAIN)
        self.close()
        for stream in sorted({COPY_STREAM, self.world_stream, self.shard_stream}):
            self.wait_for(stream)
        self.run(ITEM)
        self.run(CLIP)
        self._add(self.recipe.after_sync, number)
        self.optimize()
        self.close()  # train_step
        self.close()  # ProfilerStep

    def optimize(self) -> None:
        """Update the parameters."""
        self.open(ADAMW)
        self.open(OPTIMIZER_STEP)
        for op in self.recipe.optimizer:
            self.run(op)
        self.close()
        self.close()
