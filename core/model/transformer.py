"""The whole model: embeddings, encoder, decoder, output layer. Shape legend: `core.model`."""

import torch
from torch import Tensor, nn

from ..config import ModelConfig
from ..errors import ConfigError
from .decoder_state import DecoderState
from .interventions import NO_INTERVENTIONS, Interventions
from .layers import DecoderLayer, EncoderLayer, TokenAndPosition, make_norm
from .outputs import Encoding, ModelOutput


class Transformer(nn.Module):
    """An encoder–decoder Transformer.

    It computes everything by calling its modules, so hooks fire as in any PyTorch model. For
    translating on a CPU, see `core.inference`, which computes the same faster.

    Args:
        config: its shape and choices.
        num_source_tokens, num_target_tokens: V of each side.
        padding_id: the id of padding, on both sides.

    Raises:
        ConfigError: all embeddings are tied, but the vocabularies differ in size.
    """

    def __init__(
        self, config: ModelConfig, num_source_tokens: int, num_target_tokens: int, padding_id: int
    ) -> None:
        super().__init__()
        if config.tied_embeddings == "all" and num_source_tokens != num_target_tokens:
            raise ConfigError(
                "Tying all embeddings needs one joint vocabulary, but the source has "
                f"{num_source_tokens} tokens and the target {num_target_tokens}. Set "
                "num_subwords, or tie only the output."
            )
        self.config = config
        self.padding_id = padding_id
        self.source_embedding = TokenAndPosition(config, num_source_tokens)
        self.target_embedding = TokenAndPosition(config, num_target_tokens)
        self.encoder_layers = nn.ModuleList(
            EncoderLayer(config) for _ in range(config.num_encoder_layers)
        )
        self.decoder_layers = nn.ModuleList(
            DecoderLayer(config) for _ in range(config.num_decoder_layers)
        )
        self.encoder_norm = make_norm(config) if config.final_norm else nn.Identity()
        self.decoder_norm = make_norm(config) if config.final_norm else nn.Identity()
        self.output = nn.Linear(config.width, num_target_tokens, bias=config.output_bias)
        self._initialize()

    def _initialize(self) -> None:
        """Xavier uniform on every matrix, as the published systems do, then ties."""
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.xavier_uniform_(module.weight)
        for embedding in (self.source_embedding, self.target_embedding):
            if self.config.positions == "learned":
                nn.init.xavier_uniform_(embedding.positions)
            if self.config.initialization == "xavier-normal-embeddings":
                nn.init.normal_(embedding.tokens.weight, std=self.config.width**-0.5)
        self.tie_weights()

    def tie_weights(self) -> None:
        """Makes the matrices that the config ties one and the same parameter."""
        if self.config.tied_embeddings != "none":
            self.output.weight = self.target_embedding.tokens.weight
        if self.config.tied_embeddings == "all":
            self.source_embedding.tokens.weight = self.target_embedding.tokens.weight

    def reset_constants(self) -> None:
        """Recomputes tensors that are neither learned nor saved."""
        self.source_embedding.reset_constants()
        self.target_embedding.reset_constants()

    @property
    def num_parameters(self) -> int:
        """Trainable parameters, shared ones counted once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def source_mask(self, source: Tensor) -> Tensor:
        """[B, 1, 1, S], True at real tokens of the ids [B, S]."""
        return (source != self.padding_id)[:, None, None, :]

    def target_mask(
        self, target: Tensor, interventions: Interventions = NO_INTERVENTIONS
    ) -> Tensor:
        """[B or 1, 1, T, T], True where a position of the ids [B, T] may look: at no later one.

        Padding is at the right, where no real token looks; in Marian's models its id also begins
        every target. If `interventions` lift the causal mask, later positions are seen too, except
        padding.
        """
        length = target.size(1)
        causal = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()[
            None, None
        ]
        if interventions.lifts_mask is None:
            return causal
        is_real = target != self.padding_id
        is_real[:, 0] = True
        return causal | (interventions.lifts_mask[:, None, None, None] & is_real[:, None, None, :])

    def encode(
        self,
        source: Tensor,
        *,
        need_maps: bool = False,
        interventions: Interventions = NO_INTERVENTIONS,
    ) -> Encoding:
        """The encoding of the ids [B, S]; the decoder runs under the same interventions."""
        mask = self.source_mask(source)
        states = self.source_embedding(source)  # [B, S, D]
        maps = []
        for index, layer in enumerate(self.encoder_layers):
            changes, factor = (
                interventions.of("encoder", index),
                interventions.factor_of("encoder", index),
            )
            states, layer_maps = layer(
                states, mask, need_maps=need_maps, changes=changes, factor=factor
            )
            maps.append(layer_maps)
        stacked = torch.stack(maps, dim=1) if need_maps else None  # [B, L, H, S, S]
        return Encoding(source, self.encoder_norm(states), mask, stacked, interventions)

    def forward(
        self,
        source: Tensor | Encoding,
        target: Tensor,
        *,
        need_maps: bool = False,
        interventions: Interventions = NO_INTERVENTIONS,
    ) -> ModelOutput:
        """Teacher forcing: logits for the token after each of the ids [B, T].

        Args:
            source: ids [B, S], or their encoding, which brings its own maps and interventions.
            target: the ids [B, T].
            need_maps: whether the output holds maps.
            interventions: of source ids; see `encode`.
        """
        if isinstance(source, Encoding):
            encoding = source
        else:
            encoding = self.encode(source, need_maps=need_maps, interventions=interventions)
        hidden, decoder_maps, cross_maps = self._run_decoder(target, encoding, need_maps)
        return ModelOutput(self.output(hidden), encoding.maps, decoder_maps, cross_maps)

    def decode(self, encoding: Encoding, target: Tensor, *, need_maps: bool = False) -> ModelOutput:
        """`forward` for encoded sources; the maps of the encoder are those of `encoding`."""
        output: ModelOutput = self(encoding, target, need_maps=need_maps)
        return output

    def hidden_states(self, source: Tensor, target: Tensor) -> Tensor:
        """The states [B, T, D] before the output layer, for the ids [B, S] and [B, T]."""
        return self._run_decoder(target, self.encode(source), need_maps=False)[0]

    def start_decoding(self, encoding: Encoding, max_steps: int) -> DecoderState:
        """The state before the first of up to `max_steps` tokens."""
        return DecoderState(self.decode, encoding, prefix=encoding.source[:, :0])

    def _run_decoder(
        self, target: Tensor, encoding: Encoding, need_maps: bool
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        interventions = encoding.interventions
        target_mask = self.target_mask(target, interventions)
        states = self.target_embedding(target)  # [B, T, D]
        self_maps = []
        cross_maps = []
        for index, layer in enumerate(self.decoder_layers):
            states, layer_self, layer_cross = layer(
                states,
                encoding.states,
                target_mask,
                encoding.mask,
                need_maps=need_maps,
                self_changes=interventions.of("decoder", index),
                cross_changes=interventions.of("cross", index),
                factor=interventions.factor_of("decoder", index),
            )
            self_maps.append(layer_self)
            cross_maps.append(layer_cross)
        states = self.decoder_norm(states)
        if not need_maps:
            return states, None, None
        # [B, L, H, T, T or S]
        return states, torch.stack(self_maps, dim=1), torch.stack(cross_maps, dim=1)
