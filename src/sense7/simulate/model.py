"""The numbers: latents and ratings of a simulated study, without its words.

Quality is what an assistant turn offers; it shows in the text. A rating adds the
person: participant, participant by condition, what was at stake, and noise. For turn t of
conversation c of participant p in condition m, and dimension d,

    quality = mean + condition_m + slope_m * t + topic + conversation_c + turn_t
              + intercept_d + own_td - drop * weight_d * carry_t
    latent  = quality + participant_p + participant:condition_pm + context_c + noise_td
    rating  = 1 + number of thresholds below the latent

where carry is 1 at a turn where continuity fails and decays geometrically after it. The
overall latent is a weighted mean of the seven with its own noise. The post-task judgment
weighs the mean, the worst and the last turn, and falls where a high desired empathy was not met.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr, ndtri

from sense7.simulate.parameters import Parameters
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["NOT_PUT", "UNKNOWN", "Numbers", "draw"]

NOT_PUT = -1
"""State of a rating at a turn that was not put to rating: the cell is blank."""

UNKNOWN = 0
"""State of a rating that was asked for and not given: the cell says unknown."""

_RELATIONAL = DIMENSION_NAMES.index("Relational")


@dataclass(frozen=True)
class Numbers:
    """One simulated study in arrays. P participants, C conversations, T assistant turns.

    Turns are in the order of conversations, and within them in order of time.

    Attributes
    ----------
    parameters : Parameters
        What was planted.
    traits, scores : ndarray, (P, number of characteristics)
        Standard normal traits, and the scores shown for them (1 to 5 in steps of 0.1).
    participant_effect : ndarray, (P,)
        Effect of the participant, characteristics included, levels.
    participant_condition_effect : ndarray, (P, number of conditions)
        Effect of participant by condition, levels.
    most_important : ndarray of int, (P,)
        Dimension named as the most important.
    participant, condition, topic : ndarray of int, (C,)
        To whom and to what each conversation belongs.
    importance, desired : ndarray of int, (C,)
        Pre-task ratings, 1 to 5 and 1 to 3.
    conversation_effect, context_effect : ndarray, (C,)
        Effect of the conversation; of importance and desired empathy, its interaction included; levels.
    turns : ndarray of int, (C,)
        Number of assistant turns.
    unmet : ndarray of bool, (C,)
        Whether a high desired empathy was not met.
    post_latent, post : ndarray, (C, 7)
        Post-task empathy, latent and rated 1 to 5.
    experience_latent, experience : ndarray, (C, 4)
        Post-task experience, latent and rated 1 to 5.
    conversation, turn : ndarray of int, (T,)
        Conversation of each turn, and its number from 0.
    failure : ndarray of bool, (T,)
        Whether continuity fails here.
    carry : ndarray, (T,)
        Share of the drop that bears on this turn, 1 or more at a failure.
    turn_effect : ndarray, (T,)
        Effect of the turn, levels.
    quality : ndarray, (T, 7)
        What the turn offers on each dimension, levels.
    latent : ndarray, (T, 8)
        Latents of the ratings: the seven dimensions, then overall.
    experienced : ndarray, (T,)
        Latent of the overall rating before its own noise, levels.
    ratings : ndarray of int8, (T, 8)
        1 to 5, `UNKNOWN` or `NOT_PUT`, in the same order.
    """

    parameters: Parameters = field(repr=False)
    traits: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    participant_effect: np.ndarray = field(repr=False)
    participant_condition_effect: np.ndarray = field(repr=False)
    most_important: np.ndarray = field(repr=False)
    participant: np.ndarray = field(repr=False)
    condition: np.ndarray = field(repr=False)
    topic: np.ndarray = field(repr=False)
    importance: np.ndarray = field(repr=False)
    desired: np.ndarray = field(repr=False)
    conversation_effect: np.ndarray = field(repr=False)
    context_effect: np.ndarray = field(repr=False)
    turns: np.ndarray = field(repr=False)
    unmet: np.ndarray = field(repr=False)
    post_latent: np.ndarray = field(repr=False)
    post: np.ndarray = field(repr=False)
    experience_latent: np.ndarray = field(repr=False)
    experience: np.ndarray = field(repr=False)
    conversation: np.ndarray = field(repr=False)
    turn: np.ndarray = field(repr=False)
    failure: np.ndarray = field(repr=False)
    carry: np.ndarray = field(repr=False)
    turn_effect: np.ndarray = field(repr=False)
    quality: np.ndarray = field(repr=False)
    latent: np.ndarray = field(repr=False)
    experienced: np.ndarray = field(repr=False)
    ratings: np.ndarray = field(repr=False)


def draw(parameters: Parameters, generator: np.random.Generator, scale: int = 1) -> Numbers:
    """Draw one study.

    Parameters
    ----------
    parameters : Parameters
        What to plant.
    generator : numpy.random.Generator
        Source of chance; the same state gives the same study.
    scale : int
        Multiplies participants and conversations, for population values by brute force.

    Returns
    -------
    Numbers
        The study; a hundred times the default size takes a few seconds.

    Examples
    --------
    >>> study = draw(Parameters(), np.random.default_rng(1))
    >>> len(study.participant), study.ratings.shape[1], study.post.shape
    (672, 8, (672, 7))
    """
    p = parameters
    people = p.participants * scale
    traits = generator.standard_normal((people, len(p.characteristics)))
    # Sums instead of matrix products: BLAS kernels differ in the last bit from machine to machine.
    explained = (traits * np.array(p.characteristic_effects, dtype=float)).sum(axis=1)
    participant_effect = explained + p.participant_sd * generator.standard_normal(people)
    participant_condition = p.participant_condition_sd * generator.standard_normal((people, len(p.conditions)))

    participant = _spread(p, people, p.conversations * scale, generator)
    condition = _assign(p, participant, people, generator)
    context = _context(p, participant, condition, people, generator)
    conversation_effect = p.conversation_sd * generator.standard_normal(len(participant))
    offered = (
        p.quality_mean
        + np.array(p.condition_effects)[condition]
        + np.array(p.topic_effects)[context["topic"]]
        + conversation_effect
    )
    reaction = (
        participant_effect[participant] + participant_condition[participant, condition] + context["context_effect"]
    )

    turns = _turn_counts(p, len(participant), generator)
    latents = _turn_latents(p, turns, condition, offered, reaction, generator)
    ratings = _rate(p, participant, latents, scale, people, generator)
    after = _after(p, participant, context["desired"], latents, people, generator)
    return Numbers(
        parameters=p,
        traits=traits,
        scores=np.clip(np.round(3.2 + 0.7 * traits, 1), 1, 5),
        participant_effect=participant_effect,
        participant_condition_effect=participant_condition,
        most_important=generator.choice(len(DIMENSION_NAMES), people, p=_shares(p.most_important_shares)),
        participant=participant,
        condition=condition,
        conversation_effect=conversation_effect,
        turns=turns,
        ratings=ratings,
        **context,
        **after,
        **latents,
    )


def cut(latent: np.ndarray, thresholds: tuple[float, ...] | np.ndarray) -> np.ndarray:
    """Level of a latent: 1 plus the number of thresholds below it.

    Examples
    --------
    >>> cut(np.array([0.2, 3.0, 9.0]), (1.5, 2.5, 3.5, 4.5))
    array([1, 3, 5], dtype=int8)
    """
    level = np.ones(latent.shape, dtype=np.int8)
    for threshold in thresholds:
        level += latent > threshold
    return level


def _shares(shares: tuple[float, ...]) -> np.ndarray:
    return np.array(shares) / sum(shares)


def _spread(p: Parameters, people: int, conversations: int, generator: np.random.Generator) -> np.ndarray:
    """Participant of each conversation: one each, the rest by unequal propensities."""
    propensity = generator.gamma(p.conversation_spread, size=people)
    counts = 1 + generator.multinomial(conversations - people, propensity / propensity.sum())
    return np.repeat(np.arange(people), counts)


def _assign(p: Parameters, participant: np.ndarray, people: int, generator: np.random.Generator) -> np.ndarray:
    """Condition of each conversation, balanced within or between participants."""
    kinds = len(p.conditions)
    if p.design == "between":
        return generator.permutation(np.arange(people) % kinds)[participant]
    counts = np.bincount(participant, minlength=people)
    blocks = -(-counts // kinds)
    orders = np.argsort(generator.random((int(blocks.sum()), kinds)), axis=1)
    position = _places(counts)
    first_block = np.cumsum(blocks) - blocks
    return orders[first_block[participant] + position // kinds, position % kinds]


def _places(counts: np.ndarray) -> np.ndarray:
    """Number from 0 of each row within its group, given the groups' sizes."""
    starts = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(starts, counts)


def _context(p, participant, condition, people, generator) -> dict[str, np.ndarray]:
    topic = generator.integers(len(p.topics), size=len(participant))
    offset = p.importance_participant_sd * generator.standard_normal(people)
    importance = cut(
        p.importance_mean
        + np.array(p.topic_importance)[topic]
        + offset[participant]
        + p.importance_sd * generator.standard_normal(len(participant)),
        (1.5, 2.5, 3.5, 4.5),
    )
    desired = cut(
        p.desired_mean
        + p.desired_importance_slope * (importance - 3.0)
        + p.desired_sd * generator.standard_normal(len(participant)),
        (1.5, 2.5),
    )
    slopes = p.desired_effect + np.array(p.condition_desired_slopes)[condition]
    effect = p.importance_effect * (importance - 3.0) + slopes * (desired - 2.0)
    return {"topic": topic, "importance": importance, "desired": desired, "context_effect": effect}


def _turn_counts(p: Parameters, conversations: int, generator: np.random.Generator) -> np.ndarray:
    span = p.turns_maximum - p.turns_minimum
    middle = (p.turns_mean - p.turns_minimum) / span if span else 0.0
    if middle in (0.0, 1.0):
        return np.full(conversations, p.turns_minimum + round(middle * span))
    share = generator.beta(middle * p.turns_concentration, (1 - middle) * p.turns_concentration, size=conversations)
    return p.turns_minimum + generator.binomial(span, share)


def _turn_latents(p, turns, condition, offered, reaction, generator) -> dict[str, np.ndarray]:
    conversation = np.repeat(np.arange(len(turns)), turns)
    turn = _places(turns)
    total = len(turn)
    failure = (generator.random(total) < p.failure_probability) & (turn > 0)
    carry = _carry(p, turns, conversation, turn, failure)
    turn_effect = p.turn_sd * generator.standard_normal(total)
    common = offered[conversation] + np.array(p.condition_slopes)[condition][conversation] * turn + turn_effect
    quality = common[:, None] + np.array(p.dimension_intercepts)
    quality = quality + p.dimension_quality_sd * generator.standard_normal((total, 7))
    quality -= p.continuity_drop * carry[:, None] * np.array(p.continuity_weights)
    latent = np.empty((total, 8))
    latent[:, :7] = quality + reaction[conversation][:, None]
    latent[:, :7] += np.array(p.dimension_noise_sds) * generator.standard_normal((total, 7))
    experienced = (latent[:, :7] * np.array(p.overall_weights)).sum(axis=1) + p.overall_intercept
    latent[:, 7] = experienced + p.overall_noise_sd * generator.standard_normal(total)
    return {
        "conversation": conversation,
        "turn": turn,
        "failure": failure,
        "carry": carry,
        "turn_effect": turn_effect,
        "quality": quality,
        "latent": latent,
        "experienced": experienced,
    }


def _carry(p, turns, conversation, turn, failure) -> np.ndarray:
    """Follow the drop through each conversation: a failure adds 1, every turn keeps a share."""
    longest = int(turns.max(initial=0))
    table = np.zeros((len(turns), longest))
    table[conversation, turn] = failure
    for step in range(1, longest):
        table[:, step] += p.continuity_persistence * table[:, step - 1]
    return table[conversation, turn]


def _rate(p, participant, latents, scale, people, generator) -> np.ndarray:
    conversation, turn, failure = latents["conversation"], latents["turn"], latents["failure"]
    rater = participant[conversation]
    probability = np.tile(np.array(p.applicability), (len(turn), 1))
    relational = probability[:, _RELATIONAL]
    relational[turn == 0] = p.relational_first_applicability
    relational[failure] = p.relational_failure_applicability
    # Who leaves out one of the six leaves out others, too: half of a tendency is shared by them.
    tendency = generator.standard_normal((people, 7))
    shared = generator.standard_normal((people, 1))
    lean = np.where(np.arange(7) == _RELATIONAL, tendency, np.sqrt(0.5) * (tendency + shared))[rater]
    sds = np.full(7, p.applicability_participant_sd)
    sds[_RELATIONAL] = p.relational_participant_sd
    # A probit with a normal tendency averages to the stated probability over participants.
    answered = np.empty((len(turn), 8), dtype=bool)
    answered[:, :7] = generator.random((len(turn), 7)) < ndtr(ndtri(probability) * np.sqrt(1 + sds**2) + sds * lean)
    answered[:, 7] = generator.random(len(turn)) < p.overall_applicability
    ratings = np.where(answered, cut(latents["latent"], p.thresholds), UNKNOWN).astype(np.int8)
    skipped = generator.random(len(turn)) < p.unrated_turn_rate
    silent = np.zeros(len(participant), dtype=bool)
    silent[generator.choice(len(participant), p.unrated_conversations * scale, replace=False)] = True
    ratings[skipped | silent[conversation]] = NOT_PUT
    return ratings


def _after(p, participant, desired, latents, people, generator) -> dict[str, np.ndarray]:
    conversation, experienced = latents["conversation"], latents["experienced"]
    total = len(participant)
    starts = np.searchsorted(conversation, np.arange(total))
    ends = np.append(starts[1:], len(conversation)) - 1
    counts = np.bincount(conversation, minlength=total)
    mean = np.add.reduceat(experienced, starts) / counts
    trough = np.minimum.reduceat(experienced, starts)
    own = np.add.reduceat(latents["latent"][:, :7], starts, axis=0) / counts[:, None] - mean[:, None]
    unmet = (desired == 3) & (mean < p.unmet_below)
    judgment = (
        p.post_intercept
        + (1 - p.post_trough_weight - p.post_end_weight) * mean
        + p.post_trough_weight * trough
        + p.post_end_weight * experienced[ends]
        + p.post_participant_sd * generator.standard_normal(people)[participant]
        + p.post_conversation_sd * generator.standard_normal(total)
        - p.expectation_drop * unmet
    )
    post_latent = judgment[:, None] + own + p.post_item_sd * generator.standard_normal((total, 7))
    experience_latent = (
        np.array(p.experience_intercepts)
        + p.experience_loading * (judgment - p.quality_mean)[:, None]
        + p.experience_common_sd * generator.standard_normal(total)[:, None]
        + p.experience_item_sd * generator.standard_normal((total, 4))
    )
    return {
        "unmet": unmet,
        "post_latent": post_latent,
        "post": cut(post_latent, p.thresholds),
        "experience_latent": experience_latent,
        "experience": cut(experience_latent, (1.5, 2.5, 3.5, 4.5)),
    }
