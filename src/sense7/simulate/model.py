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

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from sense7.simulate.parameters import Parameters
from sense7.taxonomy import DIMENSION_NAMES

NOT_PUT = -1
"""State of a rating at a turn that was not put to rating: the cell is blank."""

UNKNOWN = 0
"""State of a rating that was asked for and not given: the cell says unknown."""

_RELATIONAL = DIMENSION_NAMES.index("Relational")
LEVEL_CUTS = (1.5, 2.5, 3.5, 4.5)


@dataclass(frozen=True, repr=False)
class Numbers:
    """One simulated study in arrays. P participants, C conversations, T assistant turns.

    Turns are in the order of conversations, and within them in order of time.
    """

    parameters: Parameters
    # Participants: scores of their characteristics (P, characteristics), effects in levels, the dimension named as the
    # most important.
    scores: np.ndarray
    participant_effect: np.ndarray
    most_important: np.ndarray
    # Conversations: to whom and what they belong, ratings before, number of assistant turns, ratings after.
    participant: np.ndarray
    condition: np.ndarray
    topic: np.ndarray
    importance: np.ndarray  # 1 to 5
    desired: np.ndarray  # 1 to 3
    turns: np.ndarray
    unmet: np.ndarray  # whether a high desired empathy was not met
    post: np.ndarray  # (C, 7), 1 to 5
    experience: np.ndarray  # (C, 4), 1 to 5
    # Turns: their conversation, their number from 0, whether continuity fails, what they offer on each dimension.
    conversation: np.ndarray
    turn: np.ndarray
    failure: np.ndarray
    quality: np.ndarray  # (T, 7)
    ratings: (
        np.ndarray
    )  # (T, 8): 1 to 5, `UNKNOWN` or `NOT_PUT`; the seven dimensions, then overall


def draw(parameters: Parameters, generator: np.random.Generator, scale: int = 1) -> Numbers:
    """Draw one study; ``scale`` multiplies participants and conversations, for population values by brute force.

    The same state of the generator gives the same study. A hundred times the default size takes a few seconds.

    Examples
    --------
    >>> study = draw(Parameters(), np.random.default_rng(1))
    >>> len(study.participant), study.ratings.shape[1], study.post.shape
    (672, 8, (672, 7))
    """
    p = parameters
    people = p.participants * scale
    total = p.conversations * scale
    count = len(p.conditions)
    normal = generator.standard_normal
    traits = normal((people, len(p.characteristics)))
    # Sums instead of matrix products: BLAS kernels differ in the last bit from machine to machine.
    explained = (traits * np.array(p.characteristic_effects, dtype=float)).sum(axis=1)
    participant_effect = explained + p.participant_sd * normal(people)
    participant_condition = p.participant_condition_sd * normal((people, count))

    # Participant of each conversation: one each, the rest by unequal propensities.
    propensity = generator.gamma(p.conversation_spread, size=people)
    counts = 1 + generator.multinomial(total - people, propensity / propensity.sum())
    participant = np.repeat(np.arange(people), counts)

    # Condition, balanced within or between participants.
    if p.design == "between":
        condition = generator.permutation(np.arange(people) % count)[participant]
    else:
        blocks = -(-counts // count)
        orders = np.argsort(generator.random((int(blocks.sum()), count)), axis=1)
        position = _numbers_in_groups(counts)
        first_block = np.cumsum(blocks) - blocks
        block = first_block[participant] + position // count
        condition = orders[block, position % count]

    # Context: topic, importance, desired empathy.
    topic = generator.integers(len(p.topics), size=total)
    offset = p.importance_participant_sd * normal(people)
    latent_importance = (
        p.importance_mean
        + np.array(p.topic_importance)[topic]
        + offset[participant]
        + p.importance_sd * normal(total)
    )
    importance = cut(latent_importance, LEVEL_CUTS)
    latent_desired = (
        p.desired_mean
        + p.desired_importance_slope * (importance - 3.0)
        + p.desired_sd * normal(total)
    )
    desired = cut(latent_desired, (1.5, 2.5))
    slopes = p.desired_effect + np.array(p.condition_desired_slopes)[condition]
    context_effect = p.importance_effect * (importance - 3.0) + slopes * (desired - 2.0)
    conversation_effect = p.conversation_sd * normal(total)
    offered = (
        p.quality_mean
        + np.array(p.condition_effects)[condition]
        + np.array(p.topic_effects)[topic]
        + conversation_effect
    )
    reaction = (
        participant_effect[participant]
        + participant_condition[participant, condition]
        + context_effect
    )

    # Numbers of turns.
    span = p.turns_maximum - p.turns_minimum
    middle = (p.turns_mean - p.turns_minimum) / span if span else 0.0
    if middle in (0.0, 1.0):
        turns = np.full(total, p.turns_minimum + round(middle * span))
    else:
        a = middle * p.turns_concentration
        b = (1 - middle) * p.turns_concentration
        turns = p.turns_minimum + generator.binomial(span, generator.beta(a, b, size=total))
    conversation = np.repeat(np.arange(total), turns)
    turn = _numbers_in_groups(turns)
    rows = len(turn)

    # Latents of turns. The drop is followed through each conversation: a failure adds 1, every turn keeps a share.
    failure = (generator.random(rows) < p.failure_probability) & (turn > 0)
    table = np.zeros((total, int(turns.max(initial=0))))
    table[conversation, turn] = failure
    for step in range(1, table.shape[1]):
        table[:, step] += p.continuity_persistence * table[:, step - 1]
    carry = table[conversation, turn]
    turn_effect = p.turn_sd * normal(rows)
    common = (
        offered[conversation]
        + np.array(p.condition_slopes)[condition][conversation] * turn
        + turn_effect
    )
    quality = common[:, None] + np.array(p.dimension_intercepts)
    quality = quality + p.dimension_quality_sd * normal((rows, 7))
    quality -= p.continuity_drop * carry[:, None] * np.array(p.continuity_weights)
    latent = np.empty((rows, 8))
    latent[:, :7] = quality + reaction[conversation][:, None]
    latent[:, :7] += np.array(p.dimension_noise_sds) * normal((rows, 7))
    experienced = (latent[:, :7] * np.array(p.overall_weights)).sum(axis=1) + p.overall_intercept
    latent[:, 7] = experienced + p.overall_noise_sd * normal(rows)

    # Ratings of turns. Who leaves out one of the six leaves out others, too: half of a tendency is shared by them.
    probability = np.tile(np.array(p.applicability), (rows, 1))
    probability[turn == 0, _RELATIONAL] = p.relational_first_applicability
    probability[failure, _RELATIONAL] = p.relational_failure_applicability
    tendency = normal((people, 7))
    shared_tendency = np.sqrt(0.5) * (tendency + normal((people, 1)))
    tendency = np.where(np.arange(7) == _RELATIONAL, tendency, shared_tendency)
    tendency = tendency[participant[conversation]]
    sds = np.full(7, p.applicability_participant_sd)
    sds[_RELATIONAL] = p.relational_participant_sd
    # A probit with a normal tendency averages to the stated probability over participants.
    probit = ndtri(probability) * np.sqrt(1 + sds**2) + sds * tendency
    answered = np.empty((rows, 8), dtype=bool)
    answered[:, :7] = generator.random((rows, 7)) < ndtr(probit)
    answered[:, 7] = generator.random(rows) < p.overall_applicability
    ratings = np.where(answered, cut(latent, p.thresholds), UNKNOWN).astype(np.int8)
    skipped = generator.random(rows) < p.unrated_turn_rate
    silent = np.zeros(total, dtype=bool)
    silent[generator.choice(total, p.unrated_conversations * scale, replace=False)] = True
    ratings[skipped | silent[conversation]] = NOT_PUT

    # After the conversation.
    starts = np.searchsorted(conversation, np.arange(total))
    ends = np.append(starts[1:], rows) - 1
    mean = np.add.reduceat(experienced, starts) / turns
    dimension_means = np.add.reduceat(latent[:, :7], starts, axis=0) / turns[:, None]
    deviations = dimension_means - mean[:, None]
    unmet = (desired == 3) & (mean < p.unmet_below)
    judgment = (
        p.post_intercept
        + (1 - p.post_trough_weight - p.post_end_weight) * mean
        + p.post_trough_weight * np.minimum.reduceat(experienced, starts)
        + p.post_end_weight * experienced[ends]
        + p.post_participant_sd * normal(people)[participant]
        + p.post_conversation_sd * normal(total)
        - p.expectation_drop * unmet
    )
    post_latent = judgment[:, None] + deviations + p.post_item_sd * normal((total, 7))
    experience_latent = (
        np.array(p.experience_intercepts)
        + p.experience_loading * (judgment - p.quality_mean)[:, None]
        + p.experience_common_sd * normal(total)[:, None]
        + p.experience_item_sd * normal((total, 4))
    )
    shares = np.array(p.most_important_shares) / sum(p.most_important_shares)
    return Numbers(
        parameters=p,
        scores=np.clip(np.round(3.2 + 0.7 * traits, 1), 1, 5),
        participant_effect=participant_effect,
        most_important=generator.choice(len(DIMENSION_NAMES), people, p=shares),
        participant=participant,
        condition=condition,
        topic=topic,
        importance=importance,
        desired=desired,
        turns=turns,
        unmet=unmet,
        post=cut(post_latent, p.thresholds),
        experience=cut(experience_latent, LEVEL_CUTS),
        conversation=conversation,
        turn=turn,
        failure=failure,
        quality=quality,
        ratings=ratings,
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


def _numbers_in_groups(counts: np.ndarray) -> np.ndarray:
    """Number from 0 of each row within its group, given the groups' sizes."""
    starts = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(starts, counts)
