"""What people say and what operations are called: the general vocabulary of search.

Owns: phrases, groups of words that mean nearly the same, and which words say what is done to a thing. All of it is
everyday English and the common terms of web services (RFC 9110 methods, CRUD), not the words of any one service.
Never does: rank, or read tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from codemode_jupyter.connectors.search.words import stem

Effect = Literal["read", "create", "update", "delete"]
"""What an operation does to a thing."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    """
    a about actually again all also am an and any anyone anything are as at back be because been before being but by can
    cannot could currently did do does doing done don each else ever every everything exactly for from get gets getting
    give given go goes going gonna got gotten had has have having he hello help her here him his how i if in into is
    it its itself just know let like lot ll may maybe me mine more most much must my myself need needs new nice no not
    now of off on once one ones only or other our out over own per please possible quickly really right same shall
    she should show since so some somehow something still such tell than thanks that the their them then there these
    they thing things this those through to today together too under until up us use used using very via want wants
    was way we were what when where whether which while who whom whose why will wish with within without would yet you
    your yours s t re ve m d hey hi ok okay kind sort
    """
)
"""Words that alone find nothing. Some of them still say what is wanted (``EFFECTS``)."""

# Several words that mean one thing; the longest that fits is taken first.
_PHRASES = """
    get rid of = delete
    throw away = delete
    throw out = delete dismiss
    take away = remove
    take down = delete
    take off = remove
    kick out = remove
    tear down = delete
    clean up = delete
    wipe out = delete
    take back = undo remove
    turn on = enable
    switch on = enable
    turn off = disable
    switch off = disable
    shut down = stop
    shut off = stop
    set up = create configure
    spin up = create start
    start up = start
    bring up = start
    fire up = start
    stand up = create
    kick off = start trigger
    roll out = deploy create
    roll back = rollback revert
    bring back = restore
    put back = restore
    get back = restore
    look up = get
    look for = search
    look at = get
    find out = get
    check out = checkout
    log in = login
    sign in = login
    logged in = authenticated login
    log out = logout
    sign out = logout
    sign up = register create
    hand over = transfer
    give away = transfer
    move to another = transfer
    fill in = update
    write down = create
    put together = create
    hook up = connect
    carry on = resume
    go on = resume
    hold on = pause
    on hold = pause
    once more = again rerun
    one more time = again rerun
    run again = rerun retry
    try again = retry rerun
    try out = test
    send again = resend redeliver retry
    do over = redo rerun
    by hand = manual
    up to date = update current
    left over = remaining
    have left = remaining limit
    do i have left = remaining limit
    are left = remaining limit
    who am i = current authenticated user me
    am i = current authenticated user me
    about me = current authenticated user me
    my account = authenticated user
    my profile = authenticated user
    my details = authenticated user
    allowed to = permission access
    am i allowed = permission access review
    is allowed to = permission access
    are allowed to = permission access
    has access to = permission access
    have access to = permission access
    last time = latest
    most recent = latest
    what happened = event activity log
    going on = event activity
    who did what = audit activity log event
    goes wrong = error fail
    went wrong = error fail
    what is wrong = error fail
    how long = duration timing time
    how often = count usage statistic
    how much = usage count total
    how many = count list
    how big = size
    how fast = performance
    is it alive = health status
    is it up = health status
    e mail = email
    web hook = webhook
    web hooks = webhook
    web page = page site
    web site = website site page
    sign off = approve
    pull requests = pull request
    merge request = pull request
    to do list = todo task
    to do = todo task
    two factor = 2fa two factor mfa
    due date = due date
    source code = source code
    read only = read
    time table = schedule
    side by side = compare
    out of date = outdated
    not working = error fail
    does not work = error fail
    works = working test status
"""

# What is written short.
_ABBREVIATIONS = """
    pr = pull request
    prs = pull requests
    mr = merge request
    k8s = kubernetes
    ns = namespace
    cm = config map
    pv = persistent volume
    pvc = persistent volume claim
    pvcs = persistent volume claims
    hpa = horizontal pod autoscaler
    crd = custom resource definition
    crds = custom resource definitions
    sa = service account
    vm = virtual machine
    vms = virtual machines
    db = database
    env = environment
    envs = environments
    mfa = two factor
    2fa = two factor
    dir = directory
    img = image
    msg = message
    pic = picture
    pics = pictures
    pw = password
    pwd = password
    sec = security
    vuln = vulnerability
    vulns = vulnerabilities
    perms = permissions
    auth = authentication
"""

# Words that may stand for each other. A word may be in several groups; first come those that are meant most often.
_GROUPS = """
    create add new make insert generate build open register
    delete remove destroy erase drop purge clear discard wipe trash bin scrap kill
    list get show read view fetch retrieve display see browse query lookup
    search find query look seek discover locate
    update edit change modify patch set replace alter adjust amend revise correct fix put
    rename name title retitle
    start run trigger launch begin dispatch execute invoke kick initiate
    stop cancel abort halt end terminate kill interrupt quit shutdown
    pause suspend freeze hold
    resume continue unpause unfreeze
    restart reboot rerun retry redo repeat again
    resend redeliver retry redo again
    restore recover undelete reinstate revive unarchive
    revert undo rollback reset
    enable activate allow permit unlock on
    disable deactivate off forbid
    archive retire shelve
    approve accept confirm grant allow
    reject decline refuse deny dismiss
    dismiss close ignore resolve
    resolve close finish complete done solve
    open start new
    reopen open
    lock freeze restrict prevent stop
    unlock unfreeze allow
    block ban forbid mute prevent
    unblock unban allow
    limit restrict quota cap throttle maximum
    send post submit deliver publish push
    publish release announce
    post write leave add
    upload attach import push send
    download export fetch save
    copy duplicate clone fork
    move transfer relocate migrate
    assign give set allocate
    unassign remove
    join connect link attach associate
    detach unlink disconnect remove
    invite ask invitation add join
    share invite grant
    follow subscribe watch track
    unfollow unsubscribe unwatch mute
    subscribe subscription watch
    star favorite like bookmark
    react reaction emoji like thumbs heart
    merge combine join
    compare diff difference change
    test check try verify validate ping probe
    check verify review inspect
    review inspect approve feedback
    convert render transform turn translate
    render image picture draw
    scan analyze analysis scanning
    deploy rollout deployment release ship
    install add setup installation
    uninstall remove
    configure setup setting config configuration
    schedule cron timer timetable nightly daily periodic recurring
    scale resize replica size
    grow expand resize increase
    expose ingress publish service
    forward proxy portforward tunnel
    log output console trace print
    login authenticate signin credential session
    logout signout
    sync synchronize refresh update
    refresh renew reload
    rotate renew regenerate reset
    encrypt key secret
    monitor watch observe
    estimate forecast predict
    count number total amount sum
    sort order rank

    repository repo project codebase
    organization org company organisation enterprise business firm
    enterprise business company
    user person people account member someone somebody profile human
    member user person people colleague teammate employee
    collaborator member contributor colleague person
    contributor author committer collaborator
    author creator writer owner
    owner admin administrator maintainer
    admin administrator owner role
    team group squad
    customer client buyer
    issue ticket bug problem defect
    task job item work todo step
    job task work batch
    workflow pipeline ci action automation process
    pipeline workflow dag job
    build ci workflow run compile pipeline
    run execution job attempt
    runner machine agent worker
    machine node server host computer runner vm box instance
    node machine host
    server host machine
    container pod docker
    pod container
    cluster kubernetes
    disk storage volume drive space
    volume disk storage
    storage disk space size
    memory ram
    app application program software service
    service app
    plugin extension addon integration app
    package library module artifact
    dependency package library
    artifact file package output
    library package
    cache cached
    secret password credential token key passphrase
    password secret credential passphrase
    token key credential secret pat
    credential password secret login connection
    key token credential
    certificate cert tls ssl
    permission access right role privilege authorization allowed
    access permission right
    role permission binding right
    rule policy
    policy rule
    protection protect guard rule secure
    protect protection guard
    security vulnerability advisory safety
    vulnerability security vulnerable weakness exploit cve
    vulnerable vulnerability alert
    leak leaked exposed secret scanning
    alert warning alarm notification finding
    warning alert
    notification inbox message alert
    message mail text notification
    email mail address
    comment remark note reply feedback
    reply answer response comment respond
    discussion conversation thread topic
    thread conversation discussion
    label tag category
    tag label
    topic tag subject
    milestone goal deadline
    deadline due date
    branch ref head
    tag ref version
    commit change revision sha
    version revision history release
    history version log event timeline past
    timeline history event
    event activity history log happening
    activity event action audit log
    audit log activity event
    error failure fail fault exception crash problem broken
    fail failed failure error broken
    broken error invalid fail
    crash error fail
    status state condition progress phase
    health status alive heartbeat
    info information detail metadata about
    detail info information metadata
    metadata info information attribute
    description text summary about
    file document content blob
    document file
    content file text body
    folder directory
    directory folder
    picture image photo screenshot png jpg thumbnail icon
    image picture photo
    icon image avatar logo
    color colour style paint
    style color theme font
    font text style
    frame node layer
    layer node
    component widget element symbol
    token variable
    variable value parameter env
    environment env stage variable
    setting config option preference configuration property
    config configuration setting
    webhook hook callback
    callback webhook hook
    url link address
    link url resource
    domain host dns cname
    site page website
    website site page
    page site
    statistic stat metric analytics number figure usage insight
    usage consumption use statistic utilization
    metric statistic
    traffic visit visitor view
    visitor traffic view referrer
    visit view traffic
    referrer referral source
    popular popularity trending
    cost price billing bill charge spend pay money
    billing bill cost payment charge invoice
    bill invoice billing
    payment pay purchase bill
    buy purchase order
    bought purchase payment
    plan subscription tier
    seat license assignment
    license licence
    quota limit
    limit quota rate
    call request
    request call
    remaining left limit rate
    time duration timing date
    duration timing time
    date day time
    latest newest recent last current
    newest latest recent
    recent latest last
    last latest recent
    old previous past earlier former
    pending waiting open outstanding
    waiting pending queue
    queue queued waiting
    active running current
    running active
    current active me
    me authenticated current user
    authenticated current me
    private visibility hidden secret
    public visibility
    visibility public private
    internal private
    template boilerplate sample
    sample example template
    gist snippet paste
    snippet gist code
    code source program
    source code
    language lang
    contribution commit
    advisory vulnerability security
    codespace workspace development
    workspace codespace environment
    manual dispatch hand
    sbom bill materials dependency
    database db connection
    connection database datasource link
    table sheet
    row record entry
    record entry item
    entry record item
    backup snapshot export
    snapshot backup
    attachment file upload
    asset attachment file
    calendar schedule event
    meeting event appointment
    contact person address
    weather forecast temperature
    location place address
    language locale
    review approval
    approval review approve
    deployment deploy release
    namespace project
    hostname host domain ingress
    autoscale horizontal scale autoscaler
    automatically auto automatic autoscaler
    exec command run shell attach
    command exec shell
    evict eviction drain
    network traffic
    load cpu utilization
    mean average
    upstream dependency parent
    child sub nested
    subtask child sub task
    parent upstream
    output log result
    result output
    report summary
    summary report
    month monthly
    day daily
    week weekly
    year annual
    night nightly
    hour hourly
    left remaining
"""

# What a word asks to be done; the first such word of a question counts, and the first of a name.
_EFFECTS: Mapping[Effect, str] = {
    "read": """
        what which who whose whom when where why how is are am does did do has have was were can list get show read view
        see fetch retrieve display find search look tell browse count check download export query compare describe watch
        know
    """,
    "create": """
        create add new make insert generate build open register start run trigger launch post publish submit upload
        invite send write put fork copy clone report attach give ask spin install subscribe star follow reply comment
        schedule store deploy
    """,
    "update": """
        update edit change modify patch set replace rename alter adjust move transfer mark protect lock enable disable
        turn resize scale assign archive close approve pause resume merge
    """,
    "delete": """
        delete remove destroy erase drop purge clear discard wipe trash bin kick unstar unfollow unsubscribe cancel
        revoke uninstall unassign unlock unblock dismiss kill throw
    """,
}

METHODS: Mapping[str, Effect] = {
    "GET": "read",
    "HEAD": "read",
    "OPTIONS": "read",
    "POST": "create",
    "PUT": "update",
    "PATCH": "update",
    "DELETE": "delete",
}
"""What each method of HTTP does (RFC 9110, 9.3; RFC 5789)."""


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip())


PHRASES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    tuple(said.split()): tuple(meant.split()) for said, _, meant in (line.partition("=") for line in _lines(_PHRASES))
}
"""Several words, and the words that they mean."""

ABBREVIATIONS: Mapping[str, tuple[str, ...]] = {
    short.strip(): tuple(whole.split()) for short, _, whole in (line.partition("=") for line in _lines(_ABBREVIATIONS))
}
"""A word, and the words that it is short for."""

LONGEST_PHRASE = max(map(len, PHRASES))
"""Words of the longest phrase."""

EFFECTS: Mapping[str, Effect] = {
    word: effect for effect, words in reversed(list(_EFFECTS.items())) for word in words.split()
}
"""What a word asks to be done."""


def _synonyms() -> dict[str, dict[str, float]]:
    """Return, for each stem, the stems that may stand for it: the head of a group is nearer than its other members."""
    near: dict[str, dict[str, float]] = {}
    for line in _lines(_GROUPS):
        head, *others = dict.fromkeys(map(stem, line.split()))
        for other in others:
            for word, meaning, share in ((other, head, 0.8), (head, other, 0.7)):
                known = near.setdefault(word, {})
                known[meaning] = max(known.get(meaning, 0.0), share)
        for word in others:
            for meaning in others:
                if word != meaning:
                    near[word].setdefault(meaning, 0.5)
    return near


SYNONYMS: Mapping[str, Mapping[str, float]] = _synonyms()
"""By stem, the stems that may stand for it, each with how much it counts."""
