"""The words from which conversations are put together.

All of it is invented for this project. Braces are slots that the conversation fills:
``{name}`` a colleague, ``{project}`` the work at hand, ``{day}``, ``{span}`` a stretch
of time; in assistant phrases also ``{feeling}`` as the user named it, ``{fact}`` what was
told last, ``{sore}`` the last burden told, ``{old}`` what was told before, ``{goal}`` what
the user wants, ``{advice}`` and ``{question}`` from the topic.
"""

from typing import NamedTuple

__all__ = [
    "ADVICE_CUES",
    "ASKS",
    "CLOSINGS",
    "COMMENTS",
    "COMPLAINTS",
    "DAYS",
    "ERRORS",
    "FAILURES",
    "FAREWELLS",
    "LEANINGS",
    "NAMES",
    "PHRASES",
    "PLAIN_COMMENTS",
    "PROJECTS",
    "REACTIONS",
    "SPANS",
    "STORIES",
    "WISHES",
    "Story",
]

NAMES = [
    "Dana",
    "Alex",
    "Robin",
    "Kim",
    "Sasha",
    "Jordan",
    "Noor",
    "Mika",
    "Toni",
    "Chris",
    "Jamie",
    "Ari",
    "Luca",
    "Remy",
    "Sam",
    "Jules",
    "Kari",
    "Nico",
    "Ira",
    "Pat",
    "Lou",
    "Shay",
    "Bo",
    "Max",
]

PROJECTS = (
    "the customer portal",
    "the quarterly report",
    "the data migration",
    "the training programme",
    "the audit",
    "the new booking system",
    "the spring campaign",
    "the supplier contract",
    "the archive project",
    "the onboarding guide",
    "the budget plan",
    "the website",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
SPANS = ("two weeks", "three weeks", "a month", "six weeks", "two months", "most of this year")


class Story(NamedTuple):
    """What users bring to one topic.

    Attributes
    ----------
    openings : tuple
        First messages: what the user writes, and a noun phrase by which an assistant refers to it.
    feelings : tuple of str
        Adjectives that fit "I feel ...".
    details : tuple
        Further facts, in the same form; a plus sign marks those that are no burden.
    goals : tuple of str
        What the user wants, as "to ...".
    advice : tuple of str
        What could be done, as a verb phrase.
    questions : tuple of str
        What an interested listener asks.
    """

    openings: tuple[tuple[str, str], ...]
    feelings: tuple[str, ...]
    details: tuple[tuple[str, str], ...]
    goals: tuple[str, ...]
    advice: tuple[str, ...]
    questions: tuple[str, ...]


STORIES = {
    "Conflict with a colleague": Story(
        openings=(
            ("I have been at odds with {name} for {span} now.", "the trouble with {name}"),
            (
                "{name} and I can't work together on {project} any more.",
                "the rift with {name} over {project}",
            ),
            (
                "There is a conflict between me and {name}, and it is getting worse.",
                "the conflict with {name}",
            ),
            (
                "I need to talk about a colleague, {name}. We argued on {day} in front of everybody.",
                "the argument with {name} on {day}",
            ),
            ("{name} keeps working against me on {project}.", "the way {name} works against you"),
        ),
        feelings=("tense", "angry", "hurt", "drained", "on edge", "helpless"),
        details=(
            (
                "In the meeting on {day} {name} talked over me twice.",
                "the meeting where you were talked over",
            ),
            (
                "I found out that {name} had changed my part without a word.",
                "the change to your part behind your back",
            ),
            ("We used to have lunch together, and that has stopped.", "the lunches that have stopped"),
            (
                "My manager knows, but says we should sort it out ourselves.",
                "your manager's wish to stay out of it",
            ),
            (
                "The others in the team have started to take sides.",
                "the sides that the team has taken",
            ),
            ("I wrote {name} a long message and never sent it.", "the message that you wrote and never sent"),
            ("It began when we both asked for the lead on {project}.", "the lead that both of you wanted"),
            ("{name} answers everybody's mails but mine.", "the unanswered mails"),
            (
                "I have caught myself avoiding the kitchen when {name} is there.",
                "the way you avoid the kitchen",
            ),
            (
                "To be fair, I was not friendly either. I said something sharp.",
                "the sharp remark of your own",
            ),
            ("We have to present together next {day}.", "the presentation that the two of you have to give"),
            ("Last year {name} helped me a lot when I was new.", "+the help that {name} gave you last year"),
        ),
        goals=(
            "to clear the air without a quarrel",
            "to work together again without a knot in the stomach",
            "to be taken seriously",
            "to understand what went wrong between us",
            "to get through the joint work in peace",
        ),
        advice=(
            "ask {name} for fifteen minutes away from the others",
            "say what you saw and what it did to you, and leave motives out of it",
            "begin with your own share in the quarrel before naming the other's",
            "agree on who decides what in {project}, in writing",
            "ask somebody neutral to sit in for the first ten minutes only",
            "wait for a calm day, not the hour after a clash",
            "tell {name} what you valued in the time before",
            "think of one small thing that you could both do differently this week",
        ),
        questions=(
            "What would {name} say if I asked about the same scene?",
            "When was the last time that the two of you got on well?",
            "What is it that you miss most from before?",
            "What happens in you when you see {name} in the morning?",
            "What would a good week with {name} look like?",
        ),
    ),
    "Too much work": Story(
        openings=(
            ("I am drowning in work. It has been like this for {span}.", "the flood of work"),
            (
                "There is simply too much on my desk and {project} comes on top.",
                "{project} on top of a full desk",
            ),
            (
                "I can't keep up any more, every day ends with more to do than it began with.",
                "the list that only grows",
            ),
            ("My workload has doubled since {name} went on leave.", "the load since {name} went on leave"),
            ("I worked through the weekend again for {project}.", "another weekend given to {project}"),
        ),
        feelings=("overwhelmed", "worn out", "guilty", "exhausted", "under pressure", "stretched thin"),
        details=(
            ("I have three deadlines on the same {day}.", "three deadlines on one day"),
            (
                "I said yes to {project} because nobody else would.",
                "your yes to {project} when nobody else would",
            ),
            (
                "I don't sleep well, I go through the list at night.",
                "the nights spent going through the list",
            ),
            ("My manager only says that we all have a lot to do.", "your manager's shrug"),
            ("I have not taken a lunch break since {day}.", "the lunch breaks that fell away"),
            ("There are over two hundred unread mails.", "the two hundred unread mails"),
            ("My daughter asked me whether I live at the office.", "your daughter's question"),
            ("Half of my tasks I inherited from {name}.", "the tasks inherited from {name}"),
            ("I made a silly slip yesterday because I was so tired.", "the slip on a tired day"),
            ("Nobody has told me what can wait.", "the lack of a word on what can wait"),
            ("I used to like this job a lot.", "+the joy that you once had in this job"),
            ("The next holiday is not before the end of {project}.", "the holiday that is so far off"),
        ),
        goals=(
            "to get home before dark for once",
            "to decide what can wait",
            "to say no without letting anybody down",
            "to get my head free again",
            "to show my manager what the week really holds",
        ),
        advice=(
            "write down everything for one week and what each piece takes",
            "show your manager the list and ask which two things may slip",
            "keep one hour each morning free of meetings and mails",
            "hand back what is not yours, one task at a time",
            "ask for one deadline to be moved before it is missed",
            "answer new requests with a date instead of a yes",
            "take the lunch break on {day} and see what truly breaks",
            "close the mail until ten",
        ),
        questions=(
            "Which of all these tasks weighs most when you wake up?",
            "What would you drop first if nobody would mind?",
            "When did it last feel like a good amount of work?",
            "Who in the team sees how much you carry?",
            "What does a day look like for you at the moment?",
        ),
    ),
    "Preparing a difficult conversation": Story(
        openings=(
            (
                "I have to tell {name} on {day} that the contract won't be renewed.",
                "the talk with {name} on {day}",
            ),
            ("I need to ask for more pay and I keep putting it off.", "the question of more pay"),
            ("On {day} I must tell a client that {project} will be late.", "the bad news for the client"),
            ("I have to speak to {name} about the many absences.", "the talk with {name} about the absences"),
            ("I want to tell my manager that I am leaving {project}.", "the wish to leave {project}"),
        ),
        feelings=("nervous", "anxious", "torn", "unsure", "afraid", "restless"),
        details=(
            ("The last talk of this kind ended in tears.", "the talk that ended in tears"),
            (
                "I have written three versions of the first sentence.",
                "the three versions of the first sentence",
            ),
            ("{name} has no idea that it is coming.", "the fact that {name} suspects nothing"),
            ("We will have half an hour at most.", "the half hour that you have"),
            ("I tend to talk too much when I am nervous.", "the habit of talking too much"),
            ("It was not my decision, but I have to carry it.", "the decision that was not yours"),
            ("We have known each other for eight years.", "+the eight years that you have known each other"),
            ("The room has glass walls, everybody can look in.", "the room with the glass walls"),
            ("Somebody from personnel will sit with us.", "the witness from personnel"),
            ("I don't want to promise anything that I can't keep.", "the wish not to promise too much"),
            ("I asked {name} for advice once and got laughed at.", "the time when {name} laughed at you"),
            ("After it I go straight into another meeting.", "the meeting straight after it"),
        ),
        goals=(
            "to be clear and still kind",
            "to get through it without losing my thread",
            "to keep the relationship intact",
            "to find a good first sentence",
            "to be ready for whatever comes back",
        ),
        advice=(
            "say the main thing in the first two sentences and then be quiet",
            "practise the opening aloud, twice, with somebody you trust",
            "book a room where nobody can look in",
            "write down the one thing that must be understood at the end",
            "decide beforehand what you can offer and what you can't",
            "leave ten minutes free after it, for yourself",
            "ask what the other has heard before you go on",
            "allow a pause; it feels longer to you than it is",
        ),
        questions=(
            "Which answer do you fear most?",
            "How do you want to feel when you walk out of the room?",
            "What do you know about how the other takes bad news?",
            "What would you wish to hear if you sat on the other chair?",
            "Which part of it is already clear in your mind?",
        ),
    ),
    "Feedback that was hard to hear": Story(
        openings=(
            ("My review on {day} was far worse than I expected.", "the review on {day}"),
            (
                "{name} told me that my work on {project} was sloppy.",
                "the word sloppy about your work on {project}",
            ),
            ("I got feedback that I can't get out of my head.", "the feedback that stays in your head"),
            (
                "In front of the team {name} said that I am hard to work with.",
                "what {name} said in front of the team",
            ),
            (
                "I was passed over for {project} because of my last review.",
                "the decision to pass you over for {project}",
            ),
        ),
        feelings=("hurt", "ashamed", "small", "confused", "misjudged", "discouraged"),
        details=(
            ("The year before, the same person praised me.", "+the praise from the year before"),
            ("There was not one example, only a general remark.", "a remark without a single example"),
            ("I had worked on it for {span}, evenings too.", "the evenings that you put into it"),
            ("I said nothing at all in the meeting.", "your silence in the meeting"),
            ("Some of it is true, I was late with two parts.", "the two late parts that you own up to"),
            (
                "A colleague told me afterwards that it was out of line.",
                "+the colleague who found it out of line",
            ),
            (
                "I have read the written version at least ten times.",
                "the written version that you read so often",
            ),
            ("My pay rise depends on that review.", "the pay rise that hangs on it"),
            ("I have been quiet in meetings since.", "your silence since then"),
            ("{name} has only been my manager for {span}.", "the short time that {name} has known your work"),
            ("At home I could not talk about anything else.", "the talk about it at home"),
            ("There is a follow-up talk next {day}.", "the follow-up talk next {day}"),
        ),
        goals=(
            "to find out what was really meant",
            "to take what is useful and let go of the rest",
            "to reply calmly",
            "to trust my own work again",
            "to go into the next talk with my head up",
        ),
        advice=(
            "ask for two concrete examples before you agree or disagree",
            "write down what is true in it, on one half of a page only",
            "let a night pass before you answer in writing",
            "ask a colleague whose judgment you trust for a second view",
            "bring your own record of {project} to the next talk",
            "say how it landed with you, in one calm sentence",
            "choose one point to work on and leave the others for now",
            "ask what a good result would look like three months from now",
        ),
        questions=(
            "Which sentence of it comes back most often?",
            "What part of it do you recognise in yourself?",
            "What would you have liked to say at that moment?",
            "Who knows your work well enough to say what they see?",
            "What did you need to hear that day instead?",
        ),
    ),
    "A change in the team": Story(
        openings=(
            ("We have been merged with another team and nothing is the same.", "the merger of the teams"),
            ("{name}, my manager for years, is leaving on {day}.", "{name}'s farewell"),
            ("We got a new manager and I am not sure where I stand.", "the new manager"),
            ("Our team is being split, and I go with {project}.", "the split of the team"),
            (
                "Since {name} took over the team, all our habits are gone.",
                "the change since {name} took over",
            ),
        ),
        feelings=("uneasy", "sad", "lost", "unsettled", "sceptical", "insecure"),
        details=(
            ("They told us in a short mail late on {day}.", "the short mail by which they told you"),
            ("Nobody has asked us what we think.", "the fact that nobody asked you"),
            ("My best friend at work is in the other half now.", "your friend in the other half"),
            ("The new people know one another already, I sit alone.", "the desk where you sit alone"),
            ("My tasks have changed, I give up {project}.", "the loss of {project}"),
            ("We had a coffee round each morning. It is gone.", "the morning coffee that is gone"),
            ("I have seen three reorganisations in five years.", "the three reorganisations in five years"),
            ("There are rumours that posts will be cut.", "the rumours about posts"),
            ("The new manager seems friendly, I must admit.", "+the friendly side of the new manager"),
            (
                "I was the one who knew how everything worked here.",
                "+your old role as the one who knew everything",
            ),
            ("We have a first joint meeting on {day}.", "the first joint meeting"),
            ("{name} said that I should see it as a chance.", "{name}'s talk of a chance"),
        ),
        goals=(
            "to find my place in the new team",
            "to know what is expected of me",
            "to say goodbye properly",
            "to keep what was good about the old way",
            "to stop worrying about what comes next",
        ),
        advice=(
            "ask the new manager for a short talk about what is expected of you",
            "suggest a coffee round, with the new people in it",
            "pick one person of the other team and ask about their work",
            "write down what only you know about {project} and offer it",
            "ask plainly what is decided and what is not",
            "say what you will miss, to the people whom you will miss",
            "give it four weeks before you judge it",
            "keep one habit of the old team alive",
        ),
        questions=(
            "What was it about the old team that made it yours?",
            "What would you like the new people to see in you?",
            "Which of the changes troubles you most?",
            "Is there anything in it that makes you curious?",
            "Who else feels the way you do?",
        ),
    ),
    "A mistake at work": Story(
        openings=(
            ("I sent the wrong figures for {project} to a client.", "the wrong figures that went out"),
            ("I made a mistake in {project} and only noticed on {day}.", "the mistake in {project}"),
            ("I deleted a folder that {name} had worked on for {span}.", "the deleted folder"),
            ("I missed a deadline and the whole team had to make up for it.", "the missed deadline"),
            ("I forwarded a mail about {name} to {name}. By accident.", "the mail that went to {name}"),
        ),
        feelings=("ashamed", "guilty", "embarrassed", "worried", "mortified", "foolish"),
        details=(
            ("I have not told my manager yet.", "the talk with your manager still to come"),
            ("{name} had warned me to check twice.", "{name}'s warning to check twice"),
            ("I was doing three things at the same time that day.", "the three things at once that day"),
            ("Nobody has noticed so far, I think.", "+the quiet so far"),
            ("It may cost us a good deal of money.", "the possible cost"),
            ("It is the first slip in four years.", "+four years without a slip"),
            ("I apologised at once, but got no answer.", "the apology that got no answer"),
            ("I lay awake half the night.", "the sleepless night"),
            ("The client was surprisingly polite about it.", "+the client's polite answer"),
            ("The checklist for it has been out of date for {span}.", "the checklist that is out of date"),
            ("On {day} we go through {project} with everybody.", "the meeting on {project}"),
            ("Somebody made a joke about it at lunch.", "the joke at lunch"),
        ),
        goals=(
            "to put it right",
            "to tell my manager in a good way",
            "to stop turning it over in my head",
            "to make sure that it can't happen again",
            "to win back the trust of the others",
        ),
        advice=(
            "tell your manager today, with what happened, what it means and what you propose",
            "apologise to {name} once, in person, and leave it there",
            "send the corrected version with one plain sentence",
            "ask who else checks {project} before it goes out",
            "write a short checklist and show it to the team",
            "write down how it came about while you remember it",
            "ask for a second pair of eyes for the next two weeks",
            "let remarks pass, or say once that they sting",
        ),
        questions=(
            "What is the worst that you imagine when you lie awake?",
            "How would you speak to a colleague to whom it had happened?",
            "What do you think your manager will want to know first?",
            "What have you been able to put right so far?",
            "What was going on around you that day?",
        ),
    ),
    "The next step in a career": Story(
        openings=(
            ("I have been offered the lead of {project} and can't decide.", "the offer to lead {project}"),
            ("I wonder whether it is time to leave this job.", "the thought of leaving"),
            (
                "After {span} of thinking I still don't know whether to apply.",
                "the question whether to apply",
            ),
            ("There is a post in another city and they want an answer by {day}.", "the post in another city"),
            (
                "{name} thinks that I should go into management. I am not so sure.",
                "{name}'s idea of management",
            ),
        ),
        feelings=("torn", "stuck", "restless", "pulled both ways", "anxious", "uncertain"),
        details=(
            ("The new post would mean a longer way to work.", "the longer way to work"),
            ("I have been in the same role for nine years.", "nine years in the same role"),
            ("My partner would rather stay where we are.", "your partner's wish to stay"),
            (
                "I like the work itself, I have grown tired of the routine.",
                "the routine that you have grown tired of",
            ),
            ("I applied once before and was turned down.", "the application that was turned down"),
            ("It pays better, though not by much.", "+the pay being only a little better"),
            (
                "I would have to lead people who are now my colleagues.",
                "the thought of leading your own colleagues",
            ),
            ("{name} did it and regretted it.", "{name}'s regret"),
            ("I always wanted to do something with teaching.", "+the old wish to teach"),
            (
                "My manager does not know that I am thinking about it.",
                "the plan that your manager does not know of",
            ),
            ("I am afraid of losing what I am good at.", "the fear of losing what you are good at"),
            ("I made a list, and it came out even.", "the list that came out even"),
        ),
        goals=(
            "to make a decision that I can stand behind",
            "to find out what I really want",
            "to grow without giving up what I like",
            "to talk about it openly with my manager",
            "to stop going round in circles",
        ),
        advice=(
            "ask to see an ordinary day of the other role before you answer",
            "write the letter of acceptance and the refusal, and see which one feels lighter",
            "talk to somebody who has taken such a step, and ask what they would do again",
            "ask for another week; most people can give it",
            "picture an ordinary {day} in each of the two lives",
            "tell those at home which part matters to you, before the plan is made",
            "find out what would have to change for you to stay gladly",
            "look for a small piece of it that you can try where you are now",
        ),
        questions=(
            "What draws you to it when nobody is asking?",
            "What would you miss on the first day somewhere else?",
            "What did you dream of when you began here?",
            "What would make you say in a year that it was right?",
            "Whose voice do you hear when you doubt it?",
        ),
    ),
    "Working from home": Story(
        openings=(
            ("I have worked from home for {span} and it is getting to me.", "the long time at home"),
            ("They want us back in the office on {day}s and I don't know how.", "the {day}s in the office"),
            (
                "I can't find an end to the day since I work at the kitchen table.",
                "the days at the kitchen table",
            ),
            (
                "In the video meetings about {project} I feel like a spectator.",
                "the meetings where you feel like a spectator",
            ),
            ("Since I work from home, {name} seems to forget that I exist.", "the silence from {name}"),
        ),
        feelings=("lonely", "restless", "left out", "tired", "cut off", "unmotivated"),
        details=(
            ("Some days I speak to nobody before the evening.", "the days without a word to anybody"),
            ("My neighbour has been renovating since {day}.", "the neighbour's renovation"),
            (
                "Decisions on {project} are made at the coffee machine.",
                "decisions made at the coffee machine",
            ),
            ("I have two children at home in the afternoon.", "the two children at home in the afternoon"),
            ("I save almost two hours of travel, that is the good side.", "+the two hours of travel saved"),
            ("I answer mails in bed, which I know is bad.", "the mails in bed"),
            ("My back hurts from the kitchen chair.", "the sore back"),
            ("When I do go in, I know half of the faces.", "the faces that you no longer know"),
            ("The camera stays off with most of us.", "the cameras that stay off"),
            ("{name} calls me every now and then, which helps.", "+{name}'s calls, which help"),
            ("I stopped going for walks in the winter.", "the walks that you gave up"),
            ("My manager checks whether my status is green.", "the status light that your manager checks"),
        ),
        goals=(
            "to have a real end to the day",
            "to feel part of the team again",
            "to be seen for what I do",
            "to find a rhythm that lasts",
            "to have the good sides without the lonely ones",
        ),
        advice=(
            "end the day with a walk at the same time, as if it were the way home",
            "put the laptop in a drawer at six",
            "ask {name} for a fixed call each {day}",
            "ask for decisions on {project} to be written down in one place",
            "go in on the day when the people whom you miss are there",
            "turn the camera on first and see who follows",
            "agree with your manager on results instead of hours online",
            "get a proper chair; many employers pay for one",
        ),
        questions=(
            "Which part of the day is the longest?",
            "When did you last feel that you belonged there?",
            "What did the way home use to do for you?",
            "Whom do you miss most from the office?",
            "What would a good day at home look like?",
        ),
    ),
}

LEANINGS = (
    "I feel {feeling} about it.",
    "It makes me feel {feeling}.",
    "Honestly, I am {feeling}.",
    "I have been {feeling} ever since.",
    "I am more {feeling} than I would like to admit.",
    "I did not expect to feel so {feeling}.",
)
"""How the user names the feeling."""

WISHES = (
    "What I want is {goal}.",
    "I would just like {goal}.",
    "All I want is {goal}.",
    "In the end I want {goal}.",
    "My hope is {goal}.",
)
"""How the user names the goal."""

ADVICE_CUES = (
    "What would you do in my place?",
    "How would you go about it?",
    "Do you have an idea where to begin?",
    "What could a first step be?",
    "Is there anything that I have not thought of?",
    "How do I even start?",
)

ASKS = (
    "And what if it does not work?",
    "How do I say that without sounding bitter?",
    "Can you put that more plainly?",
    "Do you think that I am overreacting?",
    "What if I only make it worse?",
    "How long should I give it?",
    "Is it normal that it occupies me so much?",
    "Should I talk to somebody else about it first?",
    "How would you word the first sentence?",
    "What should I do if nobody reacts?",
    "Do I have to do it this week?",
    "How do I keep calm when the moment comes?",
    "Would it be better to write it down?",
    "What would be a sign that it is going well?",
    "I am still not sure what matters most here.",
    "Let me think about that for a moment. What else is there?",
    "Suppose I try. What then?",
    "I keep coming back to the same point.",
    "Perhaps I see it too darkly. What do you think?",
    "And how do I look after myself in all this?",
)

REACTIONS = {
    "good": (
        "Thank you, that helps.",
        "Yes, exactly that.",
        "That is a good way to put it.",
        "I had not seen it like that.",
        "It is good to hear that.",
        "You have understood me well there.",
        "That feels right.",
        "Thanks for asking.",
        "Yes, that is the heart of it.",
        "I like that idea.",
        "That takes some weight off.",
        "True.",
    ),
    "plain": (
        "Okay.",
        "I see.",
        "Maybe.",
        "Hm.",
        "All right.",
        "Fine.",
        "That could be.",
        "Let me add something.",
        "There is more to it.",
        "Well.",
    ),
    "poor": (
        "That is not really what I meant.",
        "This sounds like a leaflet.",
        "I knew that already.",
        "You make it sound so easy.",
        "That does not help me much.",
        "I don't think you see the point.",
        "I was hoping for something else.",
        "That feels rather cold.",
        "I did not ask for a list.",
        "Hm, that misses it.",
    ),
}
"""How the user takes the answer before."""

COMPLAINTS = (
    "I already told you. {said}",
    "We have been through this. As I said: {said}",
    "Did you forget? {said}",
    "I have to begin again, it seems. {said}",
    "You know that already, I wrote it above. {said}",
    "That is in what I wrote before: {said}",
    "Sigh. Once more, then. {said}",
)
"""What the user says after continuity failed; ``{said}`` repeats an earlier sentence."""

CLOSINGS = {
    "good": (
        "Thank you, I know what to do next.",
        "This was good. I will try it on {day}.",
        "I feel a little lighter now, thank you.",
        "Thanks for listening, that did me good.",
        "I have a plan now. Thank you for your time.",
        "That was more than I hoped for. Bye for now.",
    ),
    "plain": (
        "Okay, I will think about it. Bye.",
        "All right, that is all for now.",
        "Thanks, I need to get back to work.",
        "I will see how it goes. Thanks.",
        "Fine, let us leave it there.",
    ),
    "poor": (
        "I think I will talk to a friend instead.",
        "This is not getting me further. I stop here.",
        "Never mind. Bye.",
        "I had hoped for more. Goodbye.",
        "All right, I will work it out on my own.",
    ),
}

PHRASES = {
    "Affective": (
        (
            "There is no need to feel {feeling} over this.",
            "Feelings aside, this is an everyday matter.",
            "Feeling {feeling} will not change anything.",
            "Try not to take it so personally.",
            "Others have it far worse, so cheer up.",
            "That hardly seems a reason to feel {feeling}.",
            "Emotions tend to get in the way here.",
        ),
        (
            "That is not ideal.",
            "This seems to be on your mind.",
            "Work can be like that.",
            "I see that it is unpleasant.",
            "Such things happen and can be annoying.",
            "It is understandable to have a reaction.",
            "Situations of this kind are often stressful.",
        ),
        (
            "I can see why you feel {feeling}.",
            "It sounds as if it has left you {feeling}.",
            "No wonder that you feel {feeling}.",
            "That must be hard to carry.",
            "I hear how much this affects you.",
            "It makes sense to feel {feeling} in such a spot.",
            "That sounds painful, and I am sorry.",
        ),
        (
            "Feeling {feeling} with {sore} on your mind makes perfect sense; anyone who cares would.",
            "I hear how {feeling} you feel, and beneath it perhaps how much this matters to you.",
            "It must sting, {sore}, above all when you try so hard.",
            "You have every right to feel {feeling}; let us not hurry past that.",
            "I can imagine the knot in your stomach when you think of {sore}.",
            "Thank you for telling me that you feel {feeling}. That takes courage.",
            "What you feel is not too much. It fits what has happened.",
        ),
    ),
    "Cognitive": (
        (
            "I don't quite see what the difficulty is.",
            "It is probably all a misunderstanding on your side.",
            "You are looking at it the wrong way.",
            "The matter is simple enough.",
            "From the facts there is not really a problem.",
            "You seem to want everything at once.",
            "The other side surely had good reasons.",
        ),
        (
            "So there is a problem at work.",
            "You would like the situation to improve.",
            "There are several ways to look at this.",
            "I understand the question.",
            "This is about {sore}, then.",
            "In short, you are looking for a solution.",
            "There may be different views of it.",
        ),
        (
            "As I understand it, you want {goal}.",
            "So what matters to you is {goal}.",
            "From where you stand, the sore point is {sore}.",
            "If I follow you, your question is how {goal}.",
            "You see it clearly: the aim is {goal}.",
            "I take it that you don't need a verdict, you need a way {goal}.",
            "Your reasoning makes sense to me.",
            "I see the question behind it: what to do about {sore}.",
        ),
        (
            "If I hear you rightly, it is less about {sore} than about a way {goal}.",
            "You want {goal}, and at the same time not to lose yourself in it; both count.",
            "I think I see the bind: on one side {sore}, on the other the wish {goal}.",
            "What you are after is not to be right. You want {goal}.",
            "Let me check that I have it: you look for a way {goal}, in spite of {sore}.",
            "As I see it there are two halves to this: {sore}, and the wish {goal}.",
            "You weigh several things at once, above all {sore}; I follow you.",
            "I try to see it as you do: with {sore}, anybody would ask what comes next.",
            "You have thought this through: the point is {goal}, and the rest is detail.",
        ),
    ),
    "Response": (
        (
            "The best solution is to make a list and stick to it.",
            "Here are five tips: plan, prioritise, delegate, relax, repeat.",
            "You should simply {advice}.",
            "Just move on, that usually works.",
            "Please consult the guidelines of your organisation.",
            "It is best to ignore it.",
            "You need to change your attitude first.",
        ),
        (
            "One option is to {advice}.",
            "You might want to {advice}.",
            "Some would say: {advice}.",
            "It can be useful to {advice}.",
            "A common approach is to {advice}.",
            "Possibly you could {advice}.",
            "Communication is important in such cases.",
        ),
        (
            "If you want a suggestion: {advice}.",
            "Perhaps a small step would do: {advice}.",
            "Given what you say, I would {advice}.",
            "What might suit you is to {advice}.",
            "We can leave it at talking. Or, if you like, {advice}.",
            "When you are ready, you could {advice}.",
            "For you I would start small and {advice}.",
        ),
        (
            "I don't want to hand you a recipe; if it helps, and in your own time, you could {advice}.",
            "Would it help to think about a next step, or shall we stay with this first?",
            "With {sore}, I would not rush. Later, when it suits you: {advice}.",
            "You don't have to solve it today. If one thing feels possible, {advice}.",
            "Since you want {goal}, this could fit: {advice}.",
            "Let us find what fits you. One thought: {advice}. If that feels wrong, we look for another.",
            "Your pace is the right one. One small thing is enough for now: {advice}.",
        ),
    ),
    "Prosocial": (
        (
            "That is for you to sort out.",
            "I can't do much about it.",
            "This is not something to dwell on with me.",
            "You will manage one way or another.",
            "There is nothing more to say about it.",
            "It is your own choice in the end.",
            "I only provide information.",
        ),
        (
            "I can give information on this.",
            "Let me know if there are further questions.",
            "I hope that this answers it.",
            "Further help is available on request.",
            "Good luck with it.",
            "I am here to assist.",
            "Feel free to ask more.",
        ),
        (
            "I would like to help you with this.",
            "I want this to go well for you.",
            "You don't have to work it out alone.",
            "We can take it step by step together.",
            "I am glad that you brought it up.",
            "Take care of yourself in the meantime.",
            "If you like, we can practise it here.",
        ),
        (
            "I care about how this turns out for you, whatever you decide.",
            "You have carried this for long enough by yourself; let us carry a piece of it together.",
            "Please be kind to yourself tonight. You have earned it.",
            "I would be glad to go through it with you line by line until it feels right.",
            "Whatever comes of it, you can come back here and we go on from there.",
            "I wish for you that you get {goal}, and I will gladly help.",
            "You matter in this, not only the work.",
        ),
    ),
    "Interest": (
        (
            "No further details are needed.",
            "Let us not go into that.",
            "The rest is not relevant here.",
            "I think that covers it.",
            "Anything else, or are we done?",
            "That is enough background.",
            "Let us move to another topic.",
        ),
        (
            "Is there anything else?",
            "Could you give more details?",
            "What happened next?",
            "Do you have another question?",
            "Please specify.",
            "Can you say more?",
            "Would you like to add anything?",
        ),
        (
            "{question}",
            "May I ask something? {question}",
            "I would like to know more about {fact}.",
            "How was that for you, {fact}?",
            "Tell me more about that, if you like.",
            "What was the hardest part of it?",
            "{question}",
        ),
        (
            "I keep thinking about {fact}. {question}",
            "I would really like to understand this from the inside. {question}",
            "Something in what you say about {fact} I don't want to miss. What was that like for you?",
            "I am curious about you in all this. {question}",
            "Take your time with this one. {question}",
            "That detail stays with me, {fact}. What did it stir up in you?",
            "I want to hear the part that is hard to say, too. {question}",
        ),
    ),
    "Contextual": (
        (
            "In general, such things solve themselves.",
            "The circumstances don't matter much.",
            "This applies to everyone in every job.",
            "Simply talk to your boss, as one does.",
            "It is the same everywhere.",
            "Have you thought of just taking a holiday?",
            "That is how offices are.",
        ),
        (
            "At many workplaces this is common.",
            "It depends on the circumstances.",
            "Every team is different.",
            "Such matters have to do with the culture of a workplace.",
            "There are usually several factors.",
            "The situation at work plays a part.",
            "Of course the setting matters.",
        ),
        (
            "With {sore}, the setting is not easy.",
            "In your situation one has to reckon with {sore}.",
            "I take it into account, {sore}.",
            "Given {sore}, the usual advice won't do.",
            "{name} and the others are part of the picture, too.",
            "It matters here how things stand with {project}.",
            "I keep the circumstances at your workplace in view.",
            "With all that is going on around you, this has another weight.",
            "With {sore} in mind, caution seems wise.",
        ),
        (
            "With {sore}, and with {old} before that, this is more than a single bad day.",
            "Your situation has its own history: {old}, then {sore}. Any answer has to fit that.",
            "Knowing about {old}, I see {sore} in another light.",
            "What would be easy elsewhere is harder here, with {sore}.",
            "And it did not begin today; before that came {old}. That would weigh on anybody.",
            "Between {project} and all that goes on with {name}, little room is left for you. That counts.",
            "None of this happens in a vacuum: the work, your history there, the people. I see that.",
            "A place has its own memory, and yours is no exception; I try to answer with that in view.",
            "I keep in view what you told me of your work and the people there, so that the answer fits your place.",
            "Your week, your colleagues, what came before: it all belongs to the picture, and I weigh it.",
            "What helps elsewhere may not help where you are; I go by what you have told me of it.",
            "Put together, {old} and {sore} show me why a quick fix won't hold here.",
        ),
    ),
    "Relational": (
        (
            "What you said before has no bearing on this.",
            "Let us treat this as a fresh question.",
            "I would rather not go back to earlier points.",
            "Starting from zero: there is some issue at work.",
            "Whatever came before, this is a new matter.",
            "That we spoke of it before does not matter now.",
        ),
        (
            "This is connected with the earlier messages.",
            "As mentioned, it is about work.",
            "Coming back to the matter at hand.",
            "To continue from before.",
            "This goes with your previous question.",
            "Following on from the last point.",
        ),
        (
            "You mentioned {old} earlier.",
            "That brings me back to {old}.",
            "I remember {old}, which you told me about.",
            "It goes with what you said about {old}.",
            "Earlier we spoke of {old}; I have not forgotten it.",
            "This reminds me of {old}.",
        ),
        (
            "At the start you told me about {old}; since then I see how far you have come.",
            "I have kept in mind what you said about {old}; with {fact} the picture is complete.",
            "Do you remember what you said about {old}? You knew more then than you thought.",
            "Together we have come from {old} to {fact}, and I see a thread in it.",
            "Ever since you told me about {old}, I understand better why this one weighs so much.",
            "When you told me about {old}, you sounded different. Something has moved.",
        ),
    ),
}
"""Assistant sentences by dimension and by quality shown: poor, flat, good, very good."""

FAILURES = (
    "Could you first tell me what this is about?",
    "I am not sure which situation you mean. Have you told me who is involved?",
    "Hello! How can I help you today?",
    "Sorry, which problem are we talking about?",
    "To begin with: is there something at work that troubles you?",
    "I have no note of {old}. Could you explain it from the start?",
    "What was the name of the person again, and what happened?",
    "It seems that this is your first message about the matter. What is going on?",
    "You have not said yet how you feel about it. How do you feel?",
    "Before I answer: what kind of work do you do, and what is the issue?",
)
"""What a turn says where continuity fails."""

ERRORS = (
    "The service did not answer in time.",
    "Something went wrong. Please try again.",
    "The connection was lost.",
    "Too many requests. Please wait a moment.",
)

FAREWELLS = (
    ("Conversation closed.", "Done, then.", "That is all. Next request, please.", "Fine. Goodbye."),
    (
        "Good luck.",
        "Have a good day.",
        "Goodbye, and all the best.",
        "You can come back with further questions.",
    ),
    (
        "I wish you a good {day} and a good start with it.",
        "Take care, and do come back if it helps.",
        "I hope that it goes well for you.",
        "All the best; I am glad that you told me about it.",
    ),
    (
        "Be gentle with yourself until then. I would love to hear how it went.",
        "You have done a good piece of thinking today. Come back whenever you like; I mean it.",
        "I am rooting for you, whichever way it goes.",
        "Thank you for your trust. May the next days be kinder to you.",
    ),
)
"""Last sentence of a conversation, by the quality of prosocial expression that it shows."""

COMMENTS = {
    "Affective": (
        (
            "It did not notice how I felt at all.",
            "No feeling for what this is like.",
            "It talked my feelings away.",
        ),
        ("It saw how I felt.", "Felt understood here.", "It named the feeling better than I did."),
    ),
    "Cognitive": (
        ("It did not get my point.", "Misses what I want.", "It argued against me instead of following me."),
        ("It got exactly what I am after.", "Good summary of my view.", "It saw the real question."),
    ),
    "Response": (
        ("I did not ask for advice.", "A stock answer.", "The advice does not fit my case."),
        ("Useful and not pushy.", "The suggestion fits me.", "It left the choice to me, which I liked."),
    ),
    "Prosocial": (
        ("Cold.", "It did not seem to care.", "Felt brushed off."),
        ("Warm answer.", "I felt that it wanted to help.", "Kind without overdoing it."),
    ),
    "Interest": (
        ("It did not ask anything.", "No interest in what happened.", "It wanted to be done with me."),
        ("Good question.", "It wanted to know more, which I liked.", "The question made me think."),
    ),
    "Contextual": (
        (
            "Too general, this could be said to anybody.",
            "It ignored my situation.",
            "It does not know my workplace.",
        ),
        (
            "It took my situation into account.",
            "It saw the whole picture.",
            "It fits the circumstances here.",
        ),
    ),
    "Relational": (
        ("I had already told it that.", "It forgot what I said before.", "I had to repeat myself."),
        (
            "It remembered what I said earlier.",
            "Nice that it came back to my earlier point.",
            "It kept the thread.",
        ),
    ),
}
"""Comments of users by dimension: where it was the worst, where it was the best."""

PLAIN_COMMENTS = (
    "Okay.",
    "Fine but nothing special.",
    "Average answer.",
    "Could be more personal.",
    "Acceptable.",
)
